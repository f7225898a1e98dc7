import com.google.gson.Gson; // comes with DJL, which all of these have
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** How a runner in Java answers the driver; protocol/answer.py says how. */
final class Answer {
  private static final Gson GSON = new Gson();

  private Answer() {}

  interface Embed {
    List<float[]> embed(List<String> texts) throws Exception;
  }

  private record Request(List<String> texts, int calls, String vectors) {}

  static void answer(Embed embed, String... packages) throws Exception {
    var versions = new LinkedHashMap<String, String>();
    for (var name : packages) {
      versions.put(name, installed(name));
    }
    say(Map.of("versions", versions));
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = input.readLine()) != null; ) {
      var request = GSON.fromJson(line, Request.class);
      var seconds = new double[request.calls()];
      var vectors = List.<float[]>of();
      for (int call = 0; call < seconds.length; call++) {
        long begin = System.nanoTime();
        vectors = embed.embed(request.texts());
        seconds[call] = (System.nanoTime() - begin) / 1e9;
      }
      if (request.vectors() != null) {
        write(Path.of(request.vectors()), vectors);
      }
      say(Map.of("seconds", seconds));
    }
  }

  /** The version in the name of a package's jar on the class path. */
  private static String installed(String name) {
    var jar = Pattern.compile(Pattern.quote(name) + "-(\\d[^/]*)\\.jar");
    return jar.matcher(System.getProperty("java.class.path"))
        .results()
        .map(found -> found.group(1))
        .findFirst()
        .orElseThrow();
  }

  private static void write(Path file, List<float[]> vectors) throws Exception {
    int bytes = Float.BYTES * vectors.size() * vectors.get(0).length;
    var buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (var vector : vectors) {
      for (var element : vector) {
        buffer.putFloat(element);
      }
    }
    Files.write(file, buffer.array());
  }

  private static void say(Object message) {
    System.out.println(GSON.toJson(message));
  }
}
