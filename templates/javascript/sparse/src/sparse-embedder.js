/** Embed texts sparsely: index.d.ts documents it. */

import {
  checkedOptions,
  checkedPrompt,
  checkedRows,
  checkedText,
  checkedTexts,
} from "./arguments.js";
import { CONTRACT, DOCUMENT_PROMPT, QUERY_PROMPT } from "./contract.js";
import { Model, Thread } from "./model.js";
import { checkedVector } from "./sparse-vector.js";
import { checkedTop } from "./top.js";

/** @import * as api from "../index.d.ts" */

/** @implements {api.SparseEmbedder} */
export class SparseEmbedder extends Model {
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
    return new SparseEmbedder(await Thread.open(source, options));
  }

  /** @type {api.SparseEmbedder["embed"]} */
  async embed(texts, options) {
    return this.#thread.vectors(checkedTexts(texts), checkedPrompt(options));
  }

  /** @type {api.SparseEmbedder["embedQuery"]} */
  async embedQuery(text) {
    const [vector] = await this.#thread.vectors([checkedText(text)], QUERY_PROMPT);
    return vector;
  }

  /** @type {api.SparseEmbedder["embedQueries"]} */
  async embedQueries(texts) {
    return this.#thread.vectors(checkedTexts(texts), QUERY_PROMPT);
  }

  /** @type {api.SparseEmbedder["embedDocuments"]} */
  async embedDocuments(texts) {
    return this.#thread.vectors(checkedTexts(texts), DOCUMENT_PROMPT);
  }

  /** @type {api.SparseEmbedder["tokens"]} */
  async tokens(vector, options) {
    const { indices, values } = checkedVector(vector);
    const top = checkedTop(checkedOptions(options, "{ top: 3 }", ["top"]).top);
    return this.#thread.call(async () => {
      const order = [...indices.keys()];
      order.sort((a, b) => values[b] - values[a] || indices[a] - indices[b]);
      const places = order.slice(0, top);
      const names = await this.#thread.ask(
        "names",
        places.map((place) => indices[place]),
      );
      return places.map((place, at) => ({ token: names[at], weight: values[place] }));
    });
  }

  /** @type {api.SparseEmbedder["tokenize"]} */
  async tokenize(texts, options) {
    return this.#thread.tokenize(checkedTexts(texts), checkedPrompt(options));
  }

  /** @type {api.SparseEmbedder["embedIds"]} */
  async embedIds(rows, options) {
    return this.#thread.run(checkedRows(rows), checkedPrompt(options));
  }
}
