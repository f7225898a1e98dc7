/** Texts that have a vector for each token. */

import { types } from "node:util";
import { typeOf } from "./arguments.js";
import { CONTRACT } from "./contract.js";

/** @import { MultiVector } from "../index.d.ts" */
/** @import { Vector } from "./api.d.ts" */

/**
 * The sum, over the query's vectors, of the largest scalar product with a vector of the document.
 *
 * @param {MultiVector} query
 * @param {MultiVector} document
 */
export function maxSim(query, document) {
  if (document.length === 0) return 0;
  const largest = (/** @type {Vector} */ vector) =>
    document.reduce((most, other) => Math.max(most, dot(vector, other)), -Infinity);
  return query.reduce((sum, vector) => sum + largest(vector), 0);
}

/**
 * @param {Vector} one
 * @param {Vector} other
 */
function dot(one, other) {
  let sum = 0;
  for (let index = 0; index < one.length; index++) sum += one[index] * other[index];
  return sum;
}

/**
 * @param {any} vectors
 * @param {string} name what the call names them
 * @returns {MultiVector}
 */
export function checkedVectors(vectors, name) {
  if (!Array.isArray(vectors)) {
    throw new TypeError(`${name} is ${typeOf(vectors)}; expected an Array of Float32Arrays`);
  }
  const { dimension } = CONTRACT.output;
  for (const [place, vector] of vectors.entries()) {
    if (!types.isFloat32Array(vector)) {
      throw new TypeError(`${name}[${place}] is ${typeOf(vector)}; expected a Float32Array`);
    }
    if (vector.length !== dimension) {
      const fault = `${name}[${place}] has ${vector.length} elements`;
      throw new RangeError(`${fault}; expected ${dimension}`);
    }
  }
  return vectors;
}
