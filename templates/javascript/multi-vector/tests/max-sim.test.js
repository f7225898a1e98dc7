/** The relevance of a document to a query. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { MultiVectorEmbedder } from "../src/index.js";

/** Of wrong arguments, too. @type {(query: any, document: any) => number} */
const maxSim = MultiVectorEmbedder.maxSim;
const { dimension } = CONTRACT.output;

/** A vector of the model's dimension. @param {...number} elements the first ones; the others are 0 */
function vectorOf(...elements) {
  return Float32Array.from({ length: dimension }, (_, index) => elements[index] ?? 0);
}

test("it is the sum of the largest products of the query's vectors", () => {
  const query = [vectorOf(1, 2), vectorOf(3, -1), vectorOf(-1, -1)];
  const document = [vectorOf(2, 1), vectorOf(1, 4)];
  // 9 of (4, 9), 5 of (5, -1), and -3 of (-3, -5).
  assert.equal(maxSim(query, document), 11);
  // 5 of (4, 5, -3), and 9 of (9, -1, -5).
  assert.equal(maxSim(document, query), 14);
  assert.equal(maxSim(query.toReversed(), document.toReversed()), 11);
});

test("it is 0 where one of both has no vectors", () => {
  const query = [vectorOf(-1), vectorOf(2)];
  assert.deepEqual([maxSim(query, []), maxSim([], query), maxSim([], [])], [0, 0, 0]);
});

test("it is summed in float64", () => {
  const query = [vectorOf(2 ** 24), vectorOf(1), vectorOf(1)];
  assert.equal(maxSim(query, [vectorOf(1)]), 2 ** 24 + 2);
  assert.equal(maxSim([vectorOf(2 ** 14, 1)], [vectorOf(2 ** 14, 1)]), 2 ** 28 + 1);
});

test("what is no list of the model's vectors is refused by name", () => {
  const good = [vectorOf(1)];
  const rest = `elements; expected ${dimension}`;
  for (const [bad, name, fault] of /** @type {[unknown, string, string][]} */ ([
    [undefined, "TypeError", " is undefined; expected an Array of Float32Arrays"],
    [good[0], "TypeError", " is Float32Array; expected an Array of Float32Arrays"],
    [[[1, 2]], "TypeError", "[0] is Array; expected a Float32Array"],
    [[good], "TypeError", "[0] is Array; expected a Float32Array"],
    [[...good, null], "TypeError", "[1] is null; expected a Float32Array"],
    [[vectorOf(1).subarray(1)], "RangeError", `[0] has ${dimension - 1} ${rest}`],
    [[...good, new Float32Array(dimension + 1)], "RangeError", `[1] has ${dimension + 1} ${rest}`],
  ])) {
    assert.throws(() => maxSim(bad, good), { name, message: `query${fault}` });
    assert.throws(() => maxSim(good, bad), { name, message: `document${fault}` });
    assert.throws(() => maxSim(bad, []), { name });
  }
});
