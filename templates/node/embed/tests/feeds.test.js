/** What the graph receives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { feedsOf } from "../src/feeds.js";
import { packed } from "../src/rows.js";

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
    const rows = packed([[7], [8, 8, 8, 8], [5, 6, 4294967295]]);
    for (const prompt of [null, ...Object.keys(CONTRACT.prompts)]) {
      const found = feedsOf(rows, [2, 0], prompt).find((one) => one.name === name);
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
  for (const { dims } of feedsOf(packed([[], []]), [0, 1], null)) {
    if (dims.length === 2) assert.deepEqual(dims, [2, 1]);
  }
});
