import { Embeddings } from "@langchain/core/embeddings";

/** LangChain's embeddings of a model file: queries and documents have the model's own prompts. */
export class ModelFileEmbeddings extends Embeddings {
  #embedder;

  /** @param {import("all-minilm-l6-v2").Embedder} embedder stays its owner's to close */
  constructor(embedder) {
    super({});
    this.#embedder = embedder;
  }

  /** @param {string[]} documents */
  async embedDocuments(documents) {
    return (await this.#embedder.embedDocuments(documents)).map((vector) => [...vector]);
  }

  /** @param {string} query */
  async embedQuery(query) {
    return [...(await this.#embedder.embedQuery(query))];
  }
}
