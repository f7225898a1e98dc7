/** How what a run gives is divided among texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { resultOf, rowsOf } from "../src/outputs.js";

const { name, dimension } = CONTRACT.output;
const counts = /** @type {string} */ (CONTRACT.output.counts);

/**
 * Divide as many vectors as there are numbers: all elements of a vector are its number.
 *
 * @param {number[]} numbers
 * @param {bigint[]} each how many vectors each text has
 * @param {number} texts
 */
function divided(numbers, each, texts = each.length) {
  const data = Float32Array.from(numbers.flatMap((number) => new Array(dimension).fill(number)));
  const outputs = { [name]: { data }, [counts]: { data: BigInt64Array.from(each) } };
  return rowsOf(outputs, texts).map(resultOf);
}

test("each text has its own vectors, and may have none", () => {
  const found = divided([1, 2, 3, 4, 5, 6], [2n, 0n, 1n, 3n, 0n]);
  const firsts = found.map((vectors) => vectors.map(([first]) => first));
  assert.deepEqual(firsts, [[1, 2], [], [3], [4, 5, 6], []]);
  assert.ok(found.flat().every(({ length }) => length === dimension));
  assert.deepEqual(divided([], [0n, 0n]), [[], []]);
});

test("a vector shares no memory", () => {
  for (const { buffer, byteLength } of divided([1, 2, 3], [2n, 1n]).flat()) {
    assert.equal(buffer.byteLength, byteLength);
  }
});

test("counts that are not those of the vectors are an error", () => {
  for (const [each, texts] of /** @type {[bigint[], number][]} */ ([
    [[2n, 2n], 2],
    [[1n, 1n], 2],
    [[4n, -1n], 2],
    [[3n], 2],
    [[1n, 1n, 1n], 2],
    [[], 2],
  ])) {
    const found = `the graph gives 3 vectors for ${texts} texts, but ${counts} is [${each}]`;
    const message = `${found}; bake the model again`;
    assert.throws(() => divided([1, 2, 3], each, texts), { name: "ModelError", message });
  }
});
