/** Long lists and streams, whose vectors are long. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { SparseEmbedder } from "../src/index.js";
import { packed } from "../src/rows.js";
import { windowsOf } from "../src/windows.js";
import { modelPath } from "./model.js";

const { dimension } = CONTRACT.output;

/** More than two windows. */
const COUNT = 20_000;
const texts = Array.from({ length: COUNT }, (_, index) => `${index}`);

/** The weight of each text is one more than its number, at an index of its own. */
const expected = texts.map((text) => ({
  indices: Uint32Array.of(Number(text) % dimension),
  values: Float32Array.of(Number(text) + 1),
}));

/** An embedder of texts that are numbers, which runs the last text of a window first. */
function counting() {
  const model = {
    facts: {},
    pack: async (/** @type {string[]} */ window) => packed(window.map((text) => [Number(text)])),
    run: async (/** @type {any} */ rows, /** @type {any} */ _, /** @type {any} */ take) => {
      const places = Array.from({ length: rows.length }, (_, place) => rows.length - 1 - place);
      const data = new Float32Array(places.length * dimension);
      for (const [row, place] of places.entries()) {
        const number = Number(rows.idsOf(place)[0]);
        data[row * dimension + (number % dimension)] = number + 1;
      }
      take(places, data);
      // Whatever has kept a part of it has wrong numbers now.
      data.fill(-1);
    },
  };
  return new SparseEmbedder(/** @type {any} */ (model), modelPath);
}

test("vectors have the order of the texts, however many there are", async () => {
  assert.deepEqual(await counting().embed(texts), expected);
});

test("a stream gives each vector in order", async () => {
  let count = 0;
  for await (const vector of counting().embedEach(texts)) {
    assert.deepEqual(vector, expected[count++]);
  }
  assert.equal(count, COUNT);
});

test("progress counts the texts that are done, to the last", async () => {
  /** @type {number[]} */
  const counts = [];
  await counting().embed(texts, { progress: (done) => counts.push(done) });
  assert.ok(counts.length > 1);
  assert.equal(counts.at(-1), COUNT);
});

test("the longer vectors are, the fewer texts has a window", async () => {
  for (const [length, most] of [
    [768, 8192],
    [2048, 8192],
    [30_522, 549],
    [2 ** 24, 1],
    [2 ** 25, 1],
  ]) {
    CONTRACT.output.dimension = length;
    const window = await windowsOf(texts, (text) => [/** @type {string} */ (text)]).next();
    CONTRACT.output.dimension = dimension;
    assert.equal(window.value?.length, most);
  }
});
