/** Long lists, whose texts have many vectors. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";

// Before what reads it: of texts that have many long vectors.
const dimension = 128;
CONTRACT.output.dimension = dimension;
CONTRACT.max_length = 180;
const { MultiVectorEmbedder } = await import("../src/index.js");
const { WINDOW } = await import("../src/model.js");
const { threadOf } = await import("./thread-of.js");

test("the longer vectors and texts are, the fewer texts has a window", () => {
  assert.equal(WINDOW, 728);
});

test("each text has its own vectors, however many texts there are", async () => {
  const texts = Array.from({ length: 2000 }, (_, index) => `${index}`);
  /** Each text has up to three vectors, whose elements are its number. */
  const ask = async (/** @type {string} */ _, /** @type {string[]} */ window) => {
    assert.ok(window.length <= WINDOW);
    return window.map((text) => {
      return new Float32Array((Number(text) % 4) * dimension).fill(Number(text));
    });
  };
  const found = await new MultiVectorEmbedder(threadOf(ask)).embed(texts);
  assert.deepEqual(
    found,
    texts.map((text) => {
      return new Array(Number(text) % 4).fill(new Float32Array(dimension).fill(Number(text)));
    }),
  );
});
