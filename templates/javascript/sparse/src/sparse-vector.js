/** What callers may give of sparse vectors. */

import { mistyped, typeOf } from "./arguments.js";
import { CONTRACT } from "./contract.js";

/** @import { SparseVector } from "../index.d.ts" */

/** @param {any} vector @returns {SparseVector} */
export function checkedVector(vector) {
  if (typeOf(vector) !== "Object") throw mistyped("vector", vector, "a SparseVector");
  /** @type {{ indices: Uint32Array, values: Float32Array }} */
  const { indices, values } = vector;
  if (typeOf(indices) !== "Uint32Array") {
    throw mistyped("vector.indices", indices, "a Uint32Array");
  }
  if (typeOf(values) !== "Float32Array") {
    throw mistyped("vector.values", values, "a Float32Array");
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
