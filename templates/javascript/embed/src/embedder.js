/** Embed texts: index.d.ts documents it. */

import { checkedPrompt, checkedRows, checkedText, checkedTexts } from "./arguments.js";
import { CONTRACT, DOCUMENT_PROMPT, QUERY_PROMPT } from "./contract.js";
import { Model, Thread } from "./model.js";

/** @import * as api from "../index.d.ts" */

/** @implements {api.Embedder} */
export class Embedder extends Model {
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
    return new Embedder(await Thread.open(source, options));
  }

  /** @type {api.Embedder["embed"]} */
  async embed(texts, options) {
    return this.#thread.vectors(checkedTexts(texts), checkedPrompt(options));
  }

  /** @type {api.Embedder["embedQuery"]} */
  async embedQuery(text) {
    const [vector] = await this.#thread.vectors([checkedText(text)], QUERY_PROMPT);
    return vector;
  }

  /** @type {api.Embedder["embedQueries"]} */
  async embedQueries(texts) {
    return this.#thread.vectors(checkedTexts(texts), QUERY_PROMPT);
  }

  /** @type {api.Embedder["embedDocuments"]} */
  async embedDocuments(texts) {
    return this.#thread.vectors(checkedTexts(texts), DOCUMENT_PROMPT);
  }

  /** @type {api.Embedder["tokenize"]} */
  async tokenize(texts, options) {
    return this.#thread.tokenize(checkedTexts(texts), checkedPrompt(options));
  }

  /** @type {api.Embedder["embedIds"]} */
  async embedIds(rows, options) {
    return this.#thread.run(checkedRows(rows), checkedPrompt(options));
  }
}
