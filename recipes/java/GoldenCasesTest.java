// The golden cases against your own service, in `mvn test`: Service.embed gives vectors, one a
// text. It needs JUnit 5 and
// Jackson (com.fasterxml.jackson.core:jackson-databind) in the scope of tests.

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class GoldenCasesTest {
  /** What `polybake inspect MODEL --extract FOLDER` writes, or `polybake build`. */
  private static final Path FOLDER = Path.of("fixtures/all-minilm-l6-v2");

  private static JsonNode fixture() throws IOException {
    return new ObjectMapper().readTree(FOLDER.resolve("cases.json").toFile());
  }

  static Stream<Named<JsonNode>> cases() throws IOException {
    return StreamSupport.stream(fixture().get("cases").spliterator(), false)
        .map(golden -> Named.of(golden.get("id").asText(), golden));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void goldenCase(JsonNode golden) throws IOException {
    var texts = new ArrayList<String>();
    golden.get("texts").forEach(text -> texts.add(text.asText()));
    var prompt = golden.hasNonNull("prompt") ? golden.get("prompt").asText() : null;
    var expected = rows(golden.get("embeddings"));
    var vectors = Service.embed(texts, prompt);
    assertEquals(expected.size(), vectors.size(), "vectors");
    var limits = fixture().get("tolerances").get("cpu");
    for (int row = 0; row < expected.size(); row++) {
      checkRow(row, expected.get(row), vectors.get(row), limits);
    }
  }

  private static void checkRow(int row, float[] golden, float[] vector, JsonNode limits) {
    assertEquals(golden.length, vector.length, "row " + row + ": elements");
    double norm = Math.sqrt(dot(golden, golden));
    double length = Math.sqrt(dot(vector, vector));
    double maxAbs = limits.get("max_abs").asDouble();
    double limit = maxAbs * Math.max(1, norm); // float32 rounds relative to size
    for (int element = 0; element < golden.length; element++) {
      double difference = Math.abs((double) vector[element] - golden[element]); // of NaN it is NaN
      assertTrue(
          difference <= limit,
          "row %d, element %d: difference %s exceeds %s; the vector is %s long, expected %s"
              .formatted(row, element, difference, limit, length, norm));
    }
    double angle = norm > maxAbs ? 1 - dot(golden, vector) / (norm * length) : 0;
    assertTrue(
        angle <= limits.get("one_minus_cosine").asDouble(), "row " + row + ": 1 - cosine " + angle);
  }

  private static double dot(float[] one, float[] other) {
    double sum = 0;
    for (int place = 0; place < one.length; place++) {
      sum += (double) one[place] * other[place];
    }
    return sum;
  }

  /** Little-endian float32, inline or in a file beside. */
  private static List<float[]> rows(JsonNode embeddings) throws IOException {
    var inline = embeddings.hasNonNull("data");
    var bytes =
        inline
            ? embeddings.get("data").binaryValue()
            : Files.readAllBytes(FOLDER.resolve("vectors.f32"));
    int offset = inline ? 0 : embeddings.get("offset").asInt();
    var all =
        ByteBuffer.wrap(bytes, offset, bytes.length - offset)
            .slice()
            .order(ByteOrder.LITTLE_ENDIAN)
            .asFloatBuffer();
    var rows = new ArrayList<float[]>();
    for (int row = 0; row < embeddings.get("shape").get(0).asInt(); row++) {
      var vector = new float[embeddings.get("shape").get(1).asInt()];
      all.get(vector);
      rows.add(vector);
    }
    return rows;
  }
}
