/** What a run of the graph gives: for each row a vector, and a weight and a vector of its tokens. */

import { CONTRACT } from "./contract.js";
import { ModelError } from "./errors.js";

/** @import { Vector } from "../index.d.ts" */

const { name, dimension } = CONTRACT.output;
const [weighed, embedded] = CONTRACT.further_outputs;
const { counts } = weighed;
const size = embedded.dimension;

/** The outputs that are asked for. */
export const NAMES = [name, weighed.name, embedded.name, counts];

/** Elements of a row, for windows of 64 texts: each has a vector for every token. */
export const LARGEST = 2 ** 18;

/**
 * Each row's elements, in memory that they share: its vector, its tokens' weights, their vectors.
 *
 * @type {(outputs: any, rows: number) => Vector[]}
 */
export function rowsOf(outputs, rows) {
  const [dense, weights, vectors, found] = NAMES.map((output) => outputs[output].data);
  const tokens = Array.from(found, Number);
  const total = tokens.reduce((sum, count) => sum + count, 0);
  const fits = tokens.length === rows && tokens.every((count) => count >= 0);
  const given = [dense.length / dimension, weights.length, vectors.length / size];
  if (!fits || given.join() !== [rows, total, total].join()) {
    const fault = `the graph gives ${given[0]} vectors and ${given[2]} rows for ${rows} texts`;
    throw new ModelError(`${fault}, but ${counts} is [${found}]; bake the model again`);
  }
  const elements = new Float32Array(dense.length + weights.length + vectors.length);
  let place = 0;
  let first = 0;
  return tokens.map((count, row) => {
    const start = place;
    for (const part of [
      dense.subarray(row * dimension, (row + 1) * dimension),
      weights.subarray(first, first + count),
      vectors.subarray(first * size, (first + count) * size),
    ]) {
      elements.set(part, place);
      place += part.length;
    }
    first += count;
    return elements.subarray(start, place);
  });
}

/** What callers get of a row, in memory of its own, but for what its token ids say. @param {Vector} elements */
export function resultOf(elements) {
  const tokens = (elements.length - dimension) / (1 + size);
  const rows = elements.subarray(dimension + tokens);
  return {
    dense: elements.slice(0, dimension),
    multiVector: Array.from({ length: tokens }, (_, row) =>
      rows.slice(row * size, (row + 1) * size),
    ),
    tokenWeights: elements.slice(dimension, dimension + tokens),
  };
}

/** The elements of all rows, an output at a time, as golden vectors are stored. @param {Vector[]} rows */
export function matricesOf(rows) {
  const results = rows.map(resultOf);
  return [
    { dimension, elements: results.flatMap(({ dense }) => [...dense]) },
    { dimension: 1, elements: results.flatMap(({ tokenWeights }) => [...tokenWeights]) },
    {
      dimension: size,
      elements: results.flatMap(({ multiVector }) => multiVector.flatMap((row) => [...row])),
    },
  ];
}
