/** What a run of the graph gives: a vector for each row. */

import { CONTRACT } from "./contract.js";

/** @import { Vector } from "../index.d.ts" */

const { name, dimension } = CONTRACT.output;

/** The outputs that are asked for. */
export const NAMES = [name];

/** The most elements of a row. */
export const LARGEST = dimension;

/** Each row's elements, in memory that they share. @type {(outputs: any, rows: number) => Vector[]} */
export function rowsOf({ [name]: { data } }, rows) {
  return Array.from({ length: rows }, (_, row) =>
    data.subarray(row * dimension, (row + 1) * dimension),
  );
}

/** What callers get of a row: a vector with memory of its own. @param {Vector} elements */
export function resultOf(elements) {
  return elements.slice();
}
