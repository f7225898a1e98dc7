/** Long lists, whose vectors are long. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";

// Before what reads it: of vectors that are as long as a vocabulary.
const dimension = 30_522;
CONTRACT.output.dimension = dimension;
const { SparseEmbedder } = await import("../src/index.js");
const { WINDOW } = await import("../src/model.js");
const { threadOf } = await import("./thread-of.js");

test("the longer vectors are, the fewer texts has a window", () => {
  assert.equal(WINDOW, 549);
});

test("vectors have the order of the texts, however many there are", async () => {
  const texts = Array.from({ length: 2000 }, (_, index) => `${index}`);
  /** The weight of each text is one more than its number, at an index of its own. */
  const ask = async (/** @type {string} */ _, /** @type {string[]} */ window) => {
    assert.ok(window.length <= WINDOW);
    return window.map((text) => {
      const elements = new Float32Array(dimension);
      elements[Number(text)] = Number(text) + 1;
      return elements;
    });
  };
  const vectors = await new SparseEmbedder(threadOf(ask)).embed(texts);
  assert.deepEqual(
    vectors.map(({ indices, values }) => [...indices, ...values]),
    texts.map((text) => [Number(text), Number(text) + 1]),
  );
});
