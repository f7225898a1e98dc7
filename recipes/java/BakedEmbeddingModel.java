// An embedder in LangChain4j: new BakedEmbeddingModel(Embedder.open(path), fingerprint).

import allminilml6v2.Embedder;
import dev.langchain4j.data.embedding.Embedding;
import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.EmbeddingModel;
import dev.langchain4j.model.output.Response;
import java.util.List;

/**
 * Gives documents the model's prompt for documents, and texts by themselves that for queries.
 *
 * <p>LangChain4j embeds a question by {@code embed(String)}, and what is stored by {@code
 * embed(TextSegment)} and {@code embedAll}.
 */
public final class BakedEmbeddingModel implements EmbeddingModel {
  private final Embedder embedder;

  /**
   * @param embedder stays yours to close
   * @param fingerprint that of the vectors that are stored; null where there are none yet
   */
  public BakedEmbeddingModel(Embedder embedder, String fingerprint) {
    if (fingerprint != null && !fingerprint.equals(embedder.fingerprint())) {
      throw new IllegalArgumentException(
          "the vectors are of the model file " + fingerprint + "; open that, or embed them again");
    }
    this.embedder = embedder;
  }

  @Override
  public Response<Embedding> embed(String query) {
    return Response.from(Embedding.from(embedder.embedQuery(query)));
  }

  @Override
  public Response<Embedding> embed(TextSegment document) {
    return Response.from(embedAll(List.of(document)).content().get(0));
  }

  @Override
  public Response<List<Embedding>> embedAll(List<TextSegment> documents) {
    var texts = documents.stream().map(TextSegment::text).toList();
    return Response.from(embedder.embedDocuments(texts).stream().map(Embedding::from).toList());
  }

  @Override
  public int dimension() {
    return embedder.dimension();
  }

  @Override
  public String modelName() {
    return embedder.name();
  }
}
