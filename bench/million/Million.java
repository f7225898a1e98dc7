import allminilml6v2.Embedder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;

class Million {
  public static void main(String[] arguments) throws Exception {
    int count = Integer.parseInt(arguments[1]);
    long begin = System.nanoTime();
    try (var embedder = Embedder.open(Path.of(arguments[0]))) {
      for (int done = 0; done < count; ) {
        int end = Math.min(done + 8192, done < count / 10 ? count / 10 : count);
        embedder.embed(IntStream.range(done, end).mapToObj(n -> "text number " + n).toList());
        done = end;
        if (done == count / 10 || done == count) {
          var status = Files.readString(Path.of("/proc/self/status")).split("VmRSS:\\s+")[1];
          int megabytes = Integer.parseInt(status.split(" ")[0]) / 1000;
          System.out.println(megabytes + " " + (System.nanoTime() - begin) / 1e9);
        }
      }
    }
  }
}
