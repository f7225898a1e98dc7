/** Embed texts token by token: index.d.ts documents it. */

import { checkedPrompt, checkedRows, checkedText, checkedTexts } from "./arguments.js";
import { CONTRACT, DOCUMENT_PROMPT, QUERY_PROMPT } from "./contract.js";
import { Model, Thread } from "./model.js";
import { checkedVectors, maxSim } from "./multi-vector.js";

/** @import * as api from "../index.d.ts" */

/** @implements {api.MultiVectorEmbedder} */
export class MultiVectorEmbedder extends Model {
  #thread;

  dimension = CONTRACT.output.dimension;
  prompts = Object.freeze(CONTRACT.prompts);

  /** @param {Thread} thread */
  constructor(thread) {
    super(thread);
    this.#thread = thread;
  }

  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new MultiVectorEmbedder(await Thread.open(source, options));
  }

  /** @type {typeof api.MultiVectorEmbedder.maxSim} */
  static maxSim(query, document) {
    return maxSim(checkedVectors(query, "query"), checkedVectors(document, "document"));
  }

  /** @type {api.MultiVectorEmbedder["embed"]} */
  async embed(texts, options) {
    return this.#thread.vectors(checkedTexts(texts), checkedPrompt(options));
  }

  /** @type {api.MultiVectorEmbedder["embedQuery"]} */
  async embedQuery(text) {
    const [vectors] = await this.#thread.vectors([checkedText(text)], QUERY_PROMPT);
    return vectors;
  }

  /** @type {api.MultiVectorEmbedder["embedQueries"]} */
  async embedQueries(texts) {
    return this.#thread.vectors(checkedTexts(texts), QUERY_PROMPT);
  }

  /** @type {api.MultiVectorEmbedder["embedDocuments"]} */
  async embedDocuments(texts) {
    return this.#thread.vectors(checkedTexts(texts), DOCUMENT_PROMPT);
  }

  /** @type {api.MultiVectorEmbedder["tokenize"]} */
  async tokenize(texts, options) {
    return this.#thread.tokenize(checkedTexts(texts), checkedPrompt(options));
  }

  /** @type {api.MultiVectorEmbedder["embedIds"]} */
  async embedIds(rows, options) {
    return this.#thread.run(checkedRows(rows), checkedPrompt(options));
  }
}
