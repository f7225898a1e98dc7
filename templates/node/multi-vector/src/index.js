/** Embed texts token by token: index.d.ts documents it. */

import { DIMENSION, DOCUMENT_PROMPT, PROMPTS, QUERY_PROMPT } from "./contract.js";
import { checkedPrompt, checkedText, checkedTexts, Model } from "./model.js";

/** @import * as api from "../index.d.ts" */

export * from "./errors.js";
export { Model };

/** @implements {api.MultiVectorEmbedder} */
export class MultiVectorEmbedder extends Model {
  dimension = DIMENSION;
  prompts = Object.freeze(PROMPTS);

  /** @type {typeof api.MultiVectorEmbedder.maxSim} */
  static maxSim(query, document) {
    if (document.length === 0) return 0;
    const largest = (/** @type {ArrayLike<number>} */ vector) =>
      document.reduce((most, other) => Math.max(most, product(vector, other)), -Infinity);
    return query.reduce((sum, vector) => sum + largest(vector), 0);
  }

  /** @type {api.MultiVectorEmbedder["embed"]} */
  async embed(texts, options) {
    return this._results(checkedTexts(texts), checkedPrompt(options));
  }

  /** @type {api.MultiVectorEmbedder["embedQuery"]} */
  async embedQuery(text) {
    return (await this._results([checkedText(text)], QUERY_PROMPT))[0];
  }

  /** @type {api.MultiVectorEmbedder["embedQueries"]} */
  async embedQueries(texts) {
    return this._results(checkedTexts(texts), QUERY_PROMPT);
  }

  /** @type {api.MultiVectorEmbedder["embedDocuments"]} */
  async embedDocuments(texts) {
    return this._results(checkedTexts(texts), DOCUMENT_PROMPT);
  }
}

/** The scalar product. @type {(one: ArrayLike<number>, other: ArrayLike<number>) => number} */
function product(one, other) {
  if (one.length !== DIMENSION || other.length !== DIMENSION) {
    throw new RangeError(`a vector has not ${DIMENSION} elements`);
  }
  let sum = 0;
  for (let index = 0; index < DIMENSION; index++) sum += one[index] * other[index];
  return sum;
}
