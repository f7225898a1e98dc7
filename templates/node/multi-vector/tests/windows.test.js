/** Long lists and streams, whose texts have many vectors. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { MultiVectorEmbedder } from "../src/index.js";
import { packed } from "../src/rows.js";
import { windowsOf } from "../src/windows.js";

const { max_length } = CONTRACT;
const { dimension } = CONTRACT.output;

/** More than two windows. */
const COUNT = 20_000;
const texts = Array.from({ length: COUNT }, (_, index) => `${index}`);

/** Each text has up to three vectors, whose elements are its number. */
const expected = texts.map((text) => {
  const vector = new Float32Array(dimension).fill(Number(text));
  return new Array(Number(text) % 4).fill(vector);
});

/** An embedder of texts that are numbers, which runs the last text of a window first. */
function counting() {
  const model = {
    facts: {},
    pack: async (/** @type {string[]} */ window) => packed(window.map((text) => [Number(text)])),
    run: async (/** @type {any} */ rows, /** @type {any} */ _, /** @type {any} */ take) => {
      const places = Array.from({ length: rows.length }, (_, place) => rows.length - 1 - place);
      const starts = new Uint32Array(places.length + 1);
      const data = new Float32Array(3 * places.length * dimension);
      for (const [row, place] of places.entries()) {
        const number = Number(rows.idsOf(place)[0]);
        starts[row + 1] = starts[row] + (number % 4) * dimension;
        data.fill(number, starts[row], starts[row + 1]);
      }
      take(places, { data, starts });
      // Whatever has kept a part of it has wrong numbers now.
      data.fill(-1);
    },
  };
  return new MultiVectorEmbedder(/** @type {any} */ (model));
}

test("vectors have the order of the texts, however many there are", async () => {
  assert.deepEqual(await counting().embed(texts), expected);
});

test("a stream gives the vectors of each text in order", async () => {
  let count = 0;
  for await (const vectors of counting().embedEach(texts)) {
    assert.deepEqual(vectors, expected[count++]);
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

test("the longer vectors and texts are, the fewer texts has a window", async () => {
  for (const [length, longest, most] of [
    [5, 32, 8192],
    [64, 32, 8192],
    [128, 32, 4096],
    [128, 180, 728],
    [128, 8192, 16],
    [2 ** 12, 2 ** 13, 1],
  ]) {
    CONTRACT.output.dimension = length;
    CONTRACT.max_length = longest;
    const window = await windowsOf(texts, (text) => [/** @type {string} */ (text)]).next();
    CONTRACT.max_length = max_length;
    CONTRACT.output.dimension = dimension;
    assert.equal(window.value?.length, most);
  }
});
