/** Which rows run together. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { batches } from "../src/batches.js";
import { packed } from "../src/rows.js";

/** @param {number[]} lengths */
function rowsOf(...lengths) {
  return packed(lengths.map((length) => new Array(length).fill(7)));
}

test("batches begin with the longest row, are within the budget, and hold every row once", () => {
  const rows = rowsOf(5, 1, 9, 2, 2, 30, 1, 0);
  assert.deepEqual([...batches(rows, 8)], [[5], [2], [0], [3, 4, 1, 6], [7]]);
  assert.deepEqual([...batches(rows, 10)], [[5], [2], [0, 3], [4, 1, 6, 7]]);
});

test("what attention holds is bounded by the square of the longest row", () => {
  const rows = rowsOf(...new Array(40).fill(1024));
  const sizes = [...batches(rows, 16_384)].map((batch) => batch.length);
  assert.deepEqual(sizes, [8, 8, 8, 8, 8]);
});

test("rows without ids count as one position each", () => {
  const sizes = [...batches(rowsOf(...new Array(9).fill(0)), 8)].map((batch) => batch.length);
  assert.deepEqual(sizes, [8, 1]);
});
