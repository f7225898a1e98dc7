/** What a run of the graph gives: a vector for each row. */

import { CONTRACT } from "./contract.js";

/** @import { Vector } from "./api.d.ts" */

/** @typedef {Vector} Batch `[rows, dimension]`, row by row */

/** The outputs that are asked for. */
export const NAMES = [CONTRACT.output.name];

/**
 * What goes to other threads.
 *
 * @param {Record<string, { data: any }>} outputs
 * @param {number} _ the rows that have run
 * @returns {Batch}
 */
export function batchOf(outputs, _) {
  return outputs[CONTRACT.output.name].data;
}

/**
 * The memory of a batch: an output of onnxruntime-node has its buffer to itself.
 *
 * @param {Batch} batch
 */
export function buffersOf({ buffer }) {
  return [buffer];
}

/**
 * What the graph gives for a row, in memory that the rows of a batch share.
 *
 * @param {Batch} batch
 * @param {number} row
 * @returns {Vector}
 */
export function elementsOf(batch, row) {
  const { dimension } = CONTRACT.output;
  return batch.subarray(row * dimension, (row + 1) * dimension);
}

/** The most elements of a row. */
export function mostElements() {
  return CONTRACT.output.dimension;
}

/**
 * A vector as the graph gives it, with memory of its own.
 *
 * @param {Vector} elements
 */
export function copyOf(elements) {
  return elements.slice();
}
