import allminilml6v2.Embedder;
import allminilml6v2.Options;
import java.nio.file.Path;

/** polybake's Java client. Usage: Run THREADS MODEL_FILE [side-by-side]. */
final class Run {
  public static void main(String[] arguments) throws Exception {
    int threads = Integer.parseInt(arguments[0]);
    var options =
        arguments.length > 2
            ? Options.CPU.withThreads(1).withConcurrency(threads)
            : Options.CPU.withThreads(threads);
    try (var embedder = Embedder.open(Path.of(arguments[1]), options)) {
      Answer.answer(embedder::embed, "onnxruntime", "tokenizers");
    }
  }
}
