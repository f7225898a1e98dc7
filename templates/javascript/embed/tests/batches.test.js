/** Which rows run together, and what the graph receives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { batches, feedsOf } from "../src/batches.js";
import { CONTRACT } from "../src/contract.js";

test("batches begin with the longest row, are within the budget, and hold every row once", () => {
  const lengths = [5, 1, 9, 2, 2, 30, 1, 0];
  assert.deepEqual([...batches(lengths, 8)], [[5], [2], [0], [3, 4, 1, 6], [7]]);
  assert.deepEqual([...batches(lengths, 10)], [[5], [2], [0, 3], [4, 1, 6, 7]]);
});

test("what attention holds is bounded by the square of the longest row", () => {
  const sizes = [...batches(new Array(40).fill(1024), 16_384)].map((batch) => batch.length);
  assert.deepEqual(sizes, [8, 8, 8, 8, 8]);
});

test("rows without ids count as one position each", () => {
  const sizes = [...batches(new Array(9).fill(0), 8)].map((batch) => batch.length);
  assert.deepEqual(sizes, [8, 1]);
});

/**
 * Two rows of three positions: one is full, the other has one token and two of padding.
 *
 * @param {number[]} full
 * @param {number} token
 * @param {number} padding
 */
function grid(full, token, padding) {
  const left = CONTRACT.pad_side === "left";
  return [...full, ...(left ? [padding, padding, token] : [token, padding, padding])];
}

for (const { name, feed, values } of CONTRACT.inputs) {
  test(`${name} receives ${feed}`, () => {
    for (const prompt of [null, ...Object.keys(CONTRACT.prompts)]) {
      const feeds = feedsOf([[5, 6, 4294967295], [7]], prompt);
      const found = feeds.find((one) => one.name === name);
      /** @type {Record<string, number[]>} */
      const expected = {
        input_ids: grid([5, 6, 4294967295], 7, CONTRACT.pad_id),
        attention_mask: grid([1, 1, 1], 1, 0),
        token_type_ids: grid([0, 0, 0], 0, 0),
        position_ids: grid([0, 1, 2], 0, 0),
        prompt_value: [values[prompt ?? ""]],
      };
      assert.deepEqual(found?.dims, feed === "prompt_value" ? [1] : [2, 3]);
      assert.deepEqual([...found.data].map(Number), expected[feed]);
    }
  });
}

test("a batch of empty rows has one position", () => {
  for (const { dims } of feedsOf([[], []], null)) {
    if (dims.length === 2) assert.deepEqual(dims, [2, 1]);
  }
});
