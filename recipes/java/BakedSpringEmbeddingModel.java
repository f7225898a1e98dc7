// An embedder in Spring AI: new BakedSpringEmbeddingModel(Embedder.open(path), fingerprint).

import allminilml6v2.Embedder;
import java.util.List;
import java.util.stream.IntStream;
import org.springframework.ai.document.Document;
import org.springframework.ai.embedding.Embedding;
import org.springframework.ai.embedding.EmbeddingModel;
import org.springframework.ai.embedding.EmbeddingRequest;
import org.springframework.ai.embedding.EmbeddingResponse;

/**
 * Gives documents the model's prompt for documents, and texts by themselves that for queries.
 *
 * <p>Spring AI's stores embed a query by {@code embed(String)}, and documents by {@code embed(List,
 * ...)} or {@code call}.
 */
public final class BakedSpringEmbeddingModel implements EmbeddingModel {
  private final Embedder embedder;

  /**
   * @param embedder stays yours to close
   * @param fingerprint that of the vectors that are stored; null where there are none yet
   */
  public BakedSpringEmbeddingModel(Embedder embedder, String fingerprint) {
    if (fingerprint != null && !fingerprint.equals(embedder.fingerprint())) {
      throw new IllegalArgumentException(
          "the vectors are of the model file " + fingerprint + "; open that, or embed them again");
    }
    this.embedder = embedder;
  }

  @Override
  public EmbeddingResponse call(EmbeddingRequest request) {
    var vectors = embedder.embedDocuments(request.getInstructions());
    return new EmbeddingResponse(
        IntStream.range(0, vectors.size())
            .mapToObj(place -> new Embedding(vectors.get(place), place))
            .toList());
  }

  @Override
  public float[] embed(String query) {
    return embedder.embedQuery(query);
  }

  @Override
  public float[] embed(Document document) {
    return embedder.embedDocuments(List.of(document.getFormattedContent())).get(0);
  }

  @Override
  public int dimensions() {
    return embedder.dimension();
  }
}
