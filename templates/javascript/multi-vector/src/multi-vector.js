/** Texts that have a vector for each token. */

import { mistyped, typeOf } from "./arguments.js";
import { CONTRACT } from "./contract.js";

/** @typedef {readonly Float32Array[]} Vectors */

/**
 * The sum, over the query's vectors, of the largest scalar product with a vector of the document.
 *
 * @type {(query: Vectors, document: Vectors) => number}
 */
export function maxSim(query, document) {
  if (document.length === 0) return 0;
  const largest = (/** @type {Float32Array} */ vector) =>
    document.reduce((most, other) => Math.max(most, dot(vector, other)), -Infinity);
  return query.reduce((sum, vector) => sum + largest(vector), 0);
}

/** @type {(one: Float32Array, other: Float32Array) => number} */
function dot(one, other) {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += one[index] * other[index];
  return sum;
}

/** @type {(vectors: unknown, name: string) => Vectors} */
export function checkedVectors(vectors, name) {
  if (!Array.isArray(vectors)) {
    throw mistyped(name, vectors, "an Array of Float32Arrays");
  }
  const { dimension } = CONTRACT.output;
  for (const [place, vector] of vectors.entries()) {
    if (typeOf(vector) !== "Float32Array") {
      throw mistyped(`${name}[${place}]`, vector, "a Float32Array");
    }
    if (vector.length !== dimension) {
      const fault = `${name}[${place}] has ${vector.length} elements`;
      throw new RangeError(`${fault}; expected ${dimension}`);
    }
  }
  return vectors;
}
