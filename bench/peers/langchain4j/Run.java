import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.onnx.OnnxEmbeddingModel;
import dev.langchain4j.model.embedding.onnx.PoolingMode;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;

/** LangChain4j, a text a run. Usage: Run THREADS FOLDER. */
final class Run {
  public static void main(String[] arguments) throws Exception {
    var folder = Path.of(arguments[1]);
    var threads = Executors.newFixedThreadPool(Integer.parseInt(arguments[0]));
    var model =
        new OnnxEmbeddingModel(
            folder.resolve("model.onnx"),
            folder.resolve("tokenizer.json"),
            PoolingMode.MEAN,
            threads);
    Answer.answer(
        texts -> vectors(model, texts), "langchain4j-embeddings", "onnxruntime", "tokenizers");
    threads.shutdown();
  }

  private static List<float[]> vectors(OnnxEmbeddingModel model, List<String> texts) {
    var segments = texts.stream().map(TextSegment::from).toList();
    return model.embedAll(segments).content().stream().map(Embedding::vector).toList();
  }
}
