/**
 * Two models for `embed` and `embedMany` of the AI SDK, 6 or 7, which knows one for both: what is kept
 * is a document, what is asked a query.
 *
 * @param {import("all-minilm-l6-v2").Embedder} embedder stays its owner's to close
 */
export function embeddingModels(embedder) {
  return {
    documents: modelOf((texts) => embedder.embedDocuments(texts)),
    queries: modelOf((texts) => embedder.embedQueries(texts)),
  };

  /** @param {(texts: string[]) => Promise<Float32Array[]>} embed */
  function modelOf(embed) {
    return {
      specificationVersion: /** @type {const} */ ("v3"),
      provider: "onnxruntime",
      modelId: embedder.fingerprint,
      maxEmbeddingsPerCall: Infinity,
      supportsParallelCalls: false,
      doEmbed: async (/** @type {{ values: string[] }} */ { values }) => ({
        embeddings: (await embed(values)).map((vector) => [...vector]),
        warnings: [],
      }),
    };
  }
}
