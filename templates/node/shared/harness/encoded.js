/** Vectors as the harness protocol has them. */

import { CONTRACT } from "../src/contract.js";

/** @import { Vector } from "../index.d.ts" */

/** @param {Vector[]} vectors */
export function encoded(vectors) {
  const { dtype, dimension } = CONTRACT.output;
  const bytes = vectors.map(({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength),
  );
  const data = Buffer.concat(bytes).toString("base64");
  return { dtype, shape: [vectors.length, dimension], data };
}
