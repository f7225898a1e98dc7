/** Embed texts sparsely: index.d.ts documents it. */

import { DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT } from "./contract.js";
import { checkedOptions, checkedPrompt, checkedText, checkedTexts, Model } from "./model.js";
import { best } from "./ranking.js";

/** @import * as api from "../index.d.ts" */

export * from "./errors.js";
export { Model };

/** @implements {api.SparseEmbedder} */
export class SparseEmbedder extends Model {
  dimension = DIMENSION;
  prompts = Object.freeze(PROMPTS);

  /** @type {api.SparseEmbedder["embed"]} */
  async embed(texts, options) {
    return this._results(checkedTexts(texts), checkedPrompt(options), sparse);
  }

  /** @type {api.SparseEmbedder["embedQuery"]} */
  async embedQuery(text) {
    return (await this._results([checkedText(text)], QUERY_PROMPT, sparse))[0];
  }

  /** @type {api.SparseEmbedder["embedQueries"]} */
  async embedQueries(texts) {
    return this._results(checkedTexts(texts), QUERY_PROMPT, sparse);
  }

  /** @type {api.SparseEmbedder["embedDocuments"]} */
  async embedDocuments(texts) {
    return this._results(checkedTexts(texts), DOCUMENT_PROMPT, sparse);
  }

  /** @type {api.SparseEmbedder["tokens"]} */
  async tokens({ indices, values }, options) {
    const places = best(values, checkedOptions(options).top);
    const ids = places.map((place) => indices[place]);
    const names = await this._during((thread) => thread.ask("names", ids));
    return places.map((place, at) => ({ token: names[at], weight: values[place] }));
  }
}

/** The elements that are not 0. @param {Float32Array} elements @returns {api.SparseVector} */
function sparse(elements) {
  const indices = Uint32Array.from(elements.keys()).filter((index) => elements[index] !== 0);
  return { indices, values: Float32Array.from(indices, (index) => elements[index]) };
}
