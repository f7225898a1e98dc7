/** How the outputs of a batch become those of its texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { matricesOf, NAMES, resultOf, rowsOf } from "../src/outputs.js";

const { dimension } = CONTRACT.output;
const size = CONTRACT.further_outputs[1].dimension;

/** Numbers from a first one on. @param {number} first @param {number} length */
const numbers = (first, length) => Float32Array.from({ length }, (_, index) => first + index);

/** What a graph gives for texts of so many tokens. @param {number} texts @param {number} tokens @param {number[]} counts */
function outputs(texts, tokens, counts) {
  const data = [
    numbers(0, texts * dimension),
    numbers(1000, tokens),
    numbers(2000, tokens * size),
    BigInt64Array.from(counts, BigInt),
  ];
  return Object.fromEntries(NAMES.map((name, place) => [name, { data: data[place] }]));
}

test("counts cut the rows, and each text has memory of its own", () => {
  const rows = rowsOf(outputs(3, 4, [3, 0, 1]), 3);
  const found = rows.map(resultOf);
  assert.deepEqual(
    found.map(({ dense }) => dense),
    [0, 1, 2].map((text) => numbers(text * dimension, dimension)),
  );
  assert.deepEqual(
    found.map(({ tokenWeights }) => [...tokenWeights]),
    [[1000, 1001, 1002], [], [1003]],
  );
  assert.deepEqual(
    found.map(({ multiVector }) => multiVector),
    [
      [0, 1, 2].map((row) => numbers(2000 + row * size, size)),
      [],
      [numbers(2000 + 3 * size, size)],
    ],
  );
  const [{ dense, tokenWeights }] = found;
  assert.equal(dense.buffer.byteLength, 4 * dimension);
  assert.equal(tokenWeights.buffer.byteLength, 12);
  const elements = [numbers(0, 3 * dimension), numbers(1000, 4), numbers(2000, 4 * size)];
  assert.deepEqual(matricesOf(rows), [
    { dimension, elements: [...elements[0]] },
    { dimension: 1, elements: [...elements[1]] },
    { dimension: size, elements: [...elements[2]] },
  ]);
});

test("counts that do not fit are the graph's fault", () => {
  for (const counts of [[2, 3], [4], [1, 1, 2], [5, -1], []]) {
    assert.throws(() => rowsOf(outputs(2, 4, counts), 2), {
      name: "ModelError",
      message: `the graph gives 2 vectors and 4 rows for 2 texts, but row_counts is [${counts}]; bake the model again`,
    });
  }
  assert.throws(() => rowsOf(outputs(1, 4, [2, 2]), 2), { name: "ModelError" });
});
