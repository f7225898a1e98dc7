/** Vectors as the harness protocol has them. */

import { CONTRACT } from "../src/contract.js";

/** @import { Vector } from "../src/api.d.ts" */

/**
 * All that a stream gives.
 *
 * @template T
 * @param {AsyncIterable<T>} stream
 */
export async function collected(stream) {
  /** @type {T[]} */
  const found = [];
  for await (const one of stream) found.push(one);
  return found;
}

/** @param {Vector[]} vectors */
export function encoded(vectors) {
  const { dtype, dimension } = CONTRACT.output;
  const bytes = vectors.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  );
  const data = Buffer.concat(bytes).toString("base64");
  return { dtype, shape: [vectors.length, dimension], data };
}
