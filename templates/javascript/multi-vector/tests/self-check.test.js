/** Golden vectors of all texts of a case together. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { checkCases } from "../src/self-check.js";
import { base64 } from "./base64.js";

/**
 * Let a model give vectors for golden ones, by their first elements.
 *
 * @param {number[]} numbers
 * @param {number[]} golden
 */
function check(numbers, golden) {
  const found = numbers.map(vectorOf);
  const tolerance = { max_abs: 0.1, one_minus_cosine: 0.001 };
  const tolerances = { cpu: tolerance, cuda: tolerance };
  const elements = Float32Array.from(golden.flatMap((number) => [...vectorOf(number)]));
  const shape = [golden.length, CONTRACT.output.dimension];
  const embeddings = { shape, data: base64(elements) };
  const input_ids = [[1], [2]];
  const one = { id: "one", prompt: null, texts: ["a", "b"], input_ids, embeddings };
  return checkCases(
    {
      tokenize: async () => input_ids,
      run: async () => found,
      vectors: async () => found,
    },
    { tolerances, cases: [one] },
    "cpu",
  );
}

/** @param {number} first */
function vectorOf(first) {
  return new Float32Array(CONTRACT.output.dimension).fill(first, 0, 1);
}

test("every vector is compared, however many a text has", async () => {
  assert.equal(await check([1, 2, 3], [1, 2, 3]), 0);
  assert.equal(await check([], []), 0);
  await assert.rejects(check([1, 2, 4], [1, 2, 3]), { name: "SelfCheckError", difference: 1 });
});

test("vectors that are missing, or too many, are a difference", async () => {
  for (const numbers of [[1, 2], [1, 2, 3, 0], []]) {
    await assert.rejects(check(numbers, [1, 2, 3]), {
      name: "SelfCheckError",
      difference: Math.abs(numbers.length - 3),
      limit: 0,
    });
  }
});
