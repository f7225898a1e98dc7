/** Vectors by their elements that are not 0. */

import { typeOf } from "./arguments.js";
import { CONTRACT } from "./contract.js";

/** @import { SparseVector, Vector } from "../index.d.ts" */

/** @type {(elements: Vector) => SparseVector} */
export function sparseOf(elements) {
  /** @type {number[]} */
  const filled = [];
  for (let index = 0; index < elements.length; index++) {
    if (elements[index] !== 0) filled.push(index);
  }
  const indices = Uint32Array.from(filled);
  return { indices, values: Float32Array.from(indices, (index) => elements[index]) };
}

/** @param {any} vector @returns {SparseVector} */
export function checkedVector(vector) {
  if (typeOf(vector) !== "Object") {
    throw new TypeError(`vector is ${typeOf(vector)}; expected a SparseVector`);
  }
  /** @type {{ indices: Uint32Array, values: Float32Array }} */
  const { indices, values } = vector;
  if (typeOf(indices) !== "Uint32Array") {
    throw new TypeError(`vector.indices is ${typeOf(indices)}; expected a Uint32Array`);
  }
  if (typeOf(values) !== "Float32Array") {
    throw new TypeError(`vector.values is ${typeOf(values)}; expected a Float32Array`);
  }
  if (indices.length !== values.length) {
    const lengths = `${indices.length} indices and ${values.length} values`;
    throw new RangeError(`vector has ${lengths}; expected as many`);
  }
  const { dimension } = CONTRACT.output;
  const place = indices.findIndex((index) => index >= dimension);
  if (place < 0) return vector;
  const fault = `vector.indices[${place}] is ${indices[place]}`;
  throw new RangeError(`${fault}; expected at most ${dimension - 1}`);
}
