/** Vectors as the harness protocol has them. */

import { CONTRACT } from "../src/contract.js";

/** @import { Vector } from "../index.d.ts" */

/** @param {Vector[]} vectors @param {any} [output] the contract's that they are of */
export function encoded(vectors, { dtype, dimension } = CONTRACT.output) {
  const bytes = vectors.map(({ buffer, byteOffset, byteLength }) =>
    binary(new Uint8Array(buffer, byteOffset, byteLength)),
  );
  return { dtype, shape: [vectors.length, dimension], data: btoa(bytes.join("")) };
}

/** A character a byte. @param {Uint8Array} bytes */
function binary(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
