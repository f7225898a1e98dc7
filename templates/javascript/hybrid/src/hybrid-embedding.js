/** What a text gets in one pass. */

import { resultOf } from "./outputs.js";

/** @import { HybridEmbedding, SparseVector } from "../index.d.ts" */

/** The embedding of a row of token ids. @type {(ids: number[], parts: ReturnType<typeof resultOf>) => HybridEmbedding} */
export function embeddingOf(ids, parts) {
  return { ...parts, sparse: sparseOf(ids.slice(1), parts.tokenWeights) };
}

/**
 * The largest weight of each token id, without those that are 0.
 *
 * @type {(ids: number[], weights: Float32Array) => SparseVector}
 */
export function sparseOf(ids, weights) {
  /** @type {Map<number, number>} */
  const largest = new Map();
  for (const [place, id] of ids.entries()) {
    if (weights[place] > (largest.get(id) ?? 0)) largest.set(id, weights[place]);
  }
  const indices = Uint32Array.from(largest.keys()).sort();
  return { indices, values: Float32Array.from(indices, (id) => largest.get(id) ?? 0) };
}
