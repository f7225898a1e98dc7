/** Embed texts in three ways at once: index.d.ts documents it. */

import { checkedRows, checkedTexts } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { embeddingOf } from "./hybrid-embedding.js";
import { Model, Thread } from "./model.js";

/** @import * as api from "../index.d.ts" */

/** @implements {api.HybridEmbedder} */
export class HybridEmbedder extends Model {
  #thread;

  dimension = CONTRACT.output.dimension;
  tokenDimension = CONTRACT.further_outputs[1].dimension;

  /** @param {Thread} thread */
  constructor(thread) {
    super(thread);
    this.#thread = thread;
  }

  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new HybridEmbedder(await Thread.open(source, options));
  }

  /** @type {api.HybridEmbedder["embed"]} */
  async embed(texts) {
    const checked = checkedTexts(texts);
    const ids = await this.#thread.tokenize(checked, null);
    const parts = await this.#thread.vectors(checked, null);
    return ids.map((row, index) => embeddingOf(row, parts[index]));
  }

  /** @type {api.HybridEmbedder["dense"]} */
  async dense(texts) {
    return (await this.embed(texts)).map(({ dense }) => dense);
  }

  /** @type {api.HybridEmbedder["sparse"]} */
  async sparse(texts) {
    return (await this.embed(texts)).map(({ sparse }) => sparse);
  }

  /** @type {api.HybridEmbedder["multiVector"]} */
  async multiVector(texts) {
    return (await this.embed(texts)).map(({ multiVector }) => multiVector);
  }

  /** @type {api.HybridEmbedder["tokenize"]} */
  async tokenize(texts) {
    return this.#thread.tokenize(checkedTexts(texts), null);
  }

  /** @type {api.HybridEmbedder["embedIds"]} */
  async embedIds(rows) {
    const checked = checkedRows(rows);
    const parts = await this.#thread.run(checked, null);
    return checked.map((row, index) => embeddingOf(row, parts[index]));
  }
}
