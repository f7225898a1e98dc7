/** Embed texts in three ways at once: index.d.ts documents it. */

import { DIMENSION } from "./contract.js";
import { checkedTexts, Model } from "./model.js";

/** @import * as api from "../index.d.ts" */
/** @import { Row } from "./batches.js" */

export * from "./errors.js";
export { Model };

/** @implements {api.HybridEmbedder} */
export class HybridEmbedder extends Model {
  dimension = DIMENSION;

  /** @type {api.HybridEmbedder["embed"]} */
  async embed(texts) {
    return this._results(checkedTexts(texts), ([[dense], weights, multiVector], row) => {
      return { dense, sparse: sparse(row, weights), multiVector };
    });
  }
}

/** The largest weight of each token id but the first, without those that are 0. @param {Row} row @param {Float32Array[]} weights */
function sparse(row, weights) {
  /** @type {Map<number, number>} */
  const largest = new Map();
  for (const [place, [weight]] of weights.entries()) {
    const id = row[place + 1];
    if (weight > (largest.get(id) ?? 0)) largest.set(id, weight);
  }
  const indices = Uint32Array.from(largest.keys()).sort();
  return { indices, values: Float32Array.from(indices, (id) => largest.get(id) ?? 0) };
}
