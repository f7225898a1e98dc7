/** What a run of the graph gives: vectors for each row, as many as it says. */

import { CONTRACT } from "./contract.js";
import { ModelError } from "./errors.js";

/** @import { Vector } from "../index.d.ts" */

const { name, counts, max_length, dimension } = { ...CONTRACT, ...CONTRACT.output };

/** The outputs that are asked for. */
export const NAMES = [name, counts];

/** The most elements of a row, which has at most a vector for each token. */
export const LARGEST = dimension * max_length;

/** Each row's elements, in memory that they share. @type {(outputs: any, rows: number) => Vector[]} */
export function rowsOf({ [name]: { data }, [counts]: found }, rows) {
  const sizes = Array.from(found.data, (count) => Number(count) * dimension);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length !== rows || sizes.some((size) => size < 0) || total !== data.length) {
    const fault = `the graph gives ${data.length / dimension} vectors for ${rows} texts`;
    throw new ModelError(`${fault}, but ${counts} is [${found.data}]; bake the model again`);
  }
  let end = 0;
  return sizes.map((size) => {
    end += size;
    return data.subarray(end - size, end);
  });
}

/** What callers get of a row: vectors with memory of their own. @param {Vector} elements */
export function resultOf(elements) {
  return Array.from({ length: elements.length / dimension }, (_, row) =>
    elements.slice(row * dimension, (row + 1) * dimension),
  );
}
