/** What a run of the graph gives: vectors for each text. */

import { CONTRACT } from "./contract.js";
import { ModelError } from "./errors.js";

/** @import { Vector } from "./api.d.ts" */

/**
 * The vectors of all texts, one after another.
 *
 * @typedef {object} Batch
 * @property {Vector} data
 * @property {Uint32Array} starts where each text starts in `data`, and where the last one ends
 */

const VECTORS = CONTRACT.output.name;
const COUNTS = /** @type {string} */ (CONTRACT.output.counts);

/** The outputs that are asked for. */
export const NAMES = [VECTORS, COUNTS];

/**
 * What goes to other threads.
 *
 * @param {Record<string, { data: any }>} outputs
 * @param {number} texts how many have run
 * @returns {Batch}
 */
export function batchOf({ [VECTORS]: { data }, [COUNTS]: { data: counts } }, texts) {
  const { dimension } = CONTRACT.output;
  const starts = new Uint32Array(counts.length + 1);
  for (const [text, count] of counts.entries()) {
    starts[text + 1] = starts[text] + Number(count) * dimension;
  }
  const isCount = (/** @type {bigint} */ count) => count >= 0n;
  if (counts.length !== texts || !counts.every(isCount) || starts[texts] !== data.length) {
    const found = `the graph gives ${data.length / dimension} vectors for ${texts} texts`;
    throw new ModelError(`${found}, but ${COUNTS} is [${counts}]; bake the model again`);
  }
  return { data, starts };
}

/**
 * The memory of a batch: an output of onnxruntime-node has its buffer to itself.
 *
 * @param {Batch} batch
 */
export function buffersOf({ data, starts }) {
  return [data.buffer, starts.buffer];
}

/**
 * What the graph gives for a text, in memory that the texts of a batch share.
 *
 * @param {Batch} batch
 * @param {number} text
 * @returns {Vector}
 */
export function elementsOf({ data, starts }, text) {
  return data.subarray(starts[text], starts[text + 1]);
}

/** The most elements of a text, which has at most a vector for each token. */
export function mostElements() {
  return CONTRACT.output.dimension * CONTRACT.max_length;
}

/**
 * The vectors of a text, each with memory of its own.
 *
 * @param {Vector} elements
 * @returns {Vector[]}
 */
export function copyOf(elements) {
  const { dimension } = CONTRACT.output;
  return Array.from({ length: elements.length / dimension }, (_, row) =>
    elements.slice(row * dimension, (row + 1) * dimension),
  );
}
