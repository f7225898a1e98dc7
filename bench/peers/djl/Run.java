import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** DJL on ONNX Runtime, pooling in PyTorch. Usage: Run THREADS EXPORT_FOLDER BATCH_SIZE. */
final class Run {
  public static void main(String[] arguments) throws Exception {
    System.setProperty("ai.djl.pytorch.num_threads", arguments[0]);
    var size = Integer.parseInt(arguments[2]);
    var criteria =
        Criteria.builder()
            .setTypes(String.class, float[].class)
            .optEngine("OnnxRuntime")
            .optModelPath(Path.of(arguments[1]))
            .optModelName("model")
            .optOption("intraOpNumThreads", arguments[0])
            .optArgument("includeTokenTypes", "true")
            .optArgument("maxLength", "256")
            .optTranslatorFactory(new TextEmbeddingTranslatorFactory())
            .build();
    try (var model = criteria.loadModel();
        var predictor = model.newPredictor()) {
      Answer.answer(
          texts -> vectors(predictor, texts, size),
          "onnxruntime-engine",
          "onnxruntime",
          "tokenizers",
          "pytorch-native-cpu");
    }
  }

  private static List<float[]> vectors(
      Predictor<String, float[]> predictor, List<String> texts, int size) throws Exception {
    var vectors = new ArrayList<float[]>();
    for (int start = 0; start < texts.size(); start += size) {
      var end = Math.min(start + size, texts.size());
      vectors.addAll(predictor.batchPredict(texts.subList(start, end)));
    }
    return vectors;
  }
}
