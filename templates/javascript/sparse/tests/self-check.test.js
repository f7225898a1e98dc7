/** Golden vectors that are held by their elements that are not 0. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { checkCases } from "../src/self-check.js";
import { base64 } from "./base64.js";

/**
 * Let a model give two vectors for golden ones.
 *
 * @param {number[][]} vectors
 * @param {number[]} data
 * @param {number[]} places
 */
function check(vectors, data, places) {
  const found = vectors.map((vector) => Float32Array.from(vector));
  const tolerance = { max_abs: 0.1, one_minus_cosine: 0.001 };
  const tolerances = { cpu: tolerance, cuda: tolerance };
  const embeddings = {
    shape: [vectors.length, CONTRACT.output.dimension],
    data: base64(Float32Array.from(data)),
    places: base64(Int32Array.from(places)),
  };
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

/** A vector of the model's dimension. @param {...number} elements the first ones; the others are 0 */
function vectorOf(...elements) {
  return Array.from({ length: CONTRACT.output.dimension }, (_, index) => elements[index] ?? 0);
}

test("places count through all rows, and what is between them is 0", async () => {
  const { dimension } = CONTRACT.output;
  const places = [1, dimension, dimension + 2];
  const vectors = [vectorOf(0, 1), vectorOf(2, 0, 3)];
  assert.equal(await check(vectors, [1, 2, 3], places), 0);
  for (const wrong of [
    [vectorOf(1), vectorOf(2, 0, 3)],
    [vectorOf(0, 1), vectorOf(2, 3)],
    [vectorOf(0, 1, 1), vectorOf(2, 0, 3)],
    [vectorOf(0, 1), vectorOf(2)],
  ]) {
    await assert.rejects(check(wrong, [1, 2, 3], places), { name: "SelfCheckError" });
  }
});

test("a golden vector may be 0 throughout", async () => {
  assert.equal(await check([vectorOf(), vectorOf()], [], []), 0);
});

test("places that cannot be are damaged", async () => {
  const message = "polybake.fixture is damaged; bake the model again";
  const beyond = 2 * CONTRACT.output.dimension;
  for (const [data, places] of [
    [[1], [beyond]],
    [[1], [-1]],
    [[1], [0, 1]],
    [[1, 1], [0]],
  ]) {
    const call = check([vectorOf(1), vectorOf()], data, places);
    await assert.rejects(call, { name: "ModelError", message });
  }
});

test("a vector may be as long as the largest vocabulary", async () => {
  const { dimension } = CONTRACT.output;
  CONTRACT.output.dimension = 250_002;
  assert.equal(await check([vectorOf(1), vectorOf(2)], [1, 2], [0, 250_002]), 0);
  CONTRACT.output.dimension = dimension;
});
