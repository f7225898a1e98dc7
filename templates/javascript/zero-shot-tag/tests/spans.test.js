/** The parts of a text, and which spans are taken. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";

Object.assign(CONTRACT.settings, { width: 4, most_words: 20 });
const { bestOf, partsOf, spansAbove } = await import("../src/spans.js");

/**
 * @param {number} score
 * @param {number} first
 * @param {number} last
 */
function span(score, first, last, label = 0) {
  return { score, first, last, label };
}

test("a text that fits is one part, and one without words none", () => {
  assert.deepEqual(partsOf([1, 2, 3], 6), [{ first: 0, last: 3, begin: 0, end: 3 }]);
  assert.deepEqual(partsOf([], 6), []);
});

test("each word's spans are taken from one part, in which they lie whole", () => {
  const sizes = Array.from({ length: 93 }, (_, place) => 1 + (place % 2));
  for (const room of [12, 30, 100]) {
    const parts = partsOf(sizes, room);
    let begun = 0;
    for (const { first, last, begin, end } of parts) {
      assert.equal(begin, begun);
      begun = end;
      assert.ok(last - first <= 20);
      const tokens = sizes.slice(first, last).reduce((sum, size) => sum + size, 0);
      assert.ok(tokens <= room);
      // Two parts share eight words, where so many fit.
      if (room > 12) assert.ok(last === sizes.length || last >= end + 3);
    }
    assert.equal(begun, sizes.length);
  }
});

test("two parts share twice as many words as a span has", () => {
  assert.deepEqual(partsOf(new Array(33).fill(1), 100), [
    { first: 0, last: 20, begin: 0, end: 16 },
    { first: 12, last: 32, begin: 16, end: 28 },
    { first: 24, last: 33, begin: 28, end: 33 },
  ]);
});

test("parts of few words share all but one, the first half of them from the earlier part", () => {
  assert.deepEqual(partsOf([1, 1, 1, 1, 1], 4), [
    { first: 0, last: 4, begin: 0, end: 3 },
    { first: 1, last: 5, begin: 3, end: 5 },
  ]);
});

test("a word with more tokens than there is room stands alone", () => {
  assert.deepEqual(partsOf([9, 1, 1], 8), [
    { first: 0, last: 1, begin: 0, end: 1 },
    { first: 1, last: 3, begin: 1, end: 3 },
  ]);
});

test("spans of a part have more than the least score, and begin where it gives them", () => {
  // Two labels of three words.
  const scores = new Float32Array(24);
  scores[1 * 8 + 0 * 4 + 1] = 0.75;
  scores[1 * 8 + 1 * 4 + 0] = 0.5;
  scores[2 * 8 + 1 * 4 + 0] = 0.625;
  const part = { first: 5, last: 8, begin: 5, end: 8 };
  const both = [span(0.75, 6, 8), span(0.625, 7, 8, 1)];
  assert.deepEqual([...spansAbove(scores, part, 2, 0.5)], both);
  assert.deepEqual([...spansAbove(scores, { ...part, begin: 7 }, 2, 0.5)], [span(0.625, 7, 8, 1)]);
  assert.deepEqual([...spansAbove(scores, { ...part, end: 7 }, 2, 0.5)], [span(0.75, 6, 8)]);
});

test("scores are compared in double precision", () => {
  const scores = new Float32Array(4).fill(0.3, 0, 1);
  const part = { first: 0, last: 1, begin: 0, end: 1 };
  assert.equal([...spansAbove(scores, part, 1, 0.3)].length, 1);
  assert.equal([...spansAbove(scores, part, 1, Math.fround(0.3))].length, 0);
});

test("of spans that share a word the better one is taken, then the best of the others", () => {
  assert.deepEqual(bestOf([span(0.7, 0, 2), span(0.9, 1, 3), span(0.6, 3, 4), span(0.8, 2, 4)]), [
    span(0.9, 1, 3),
    span(0.6, 3, 4),
  ]);
  assert.deepEqual(bestOf([]), []);
});

test("of equal ones the one that begins first is taken, then the shorter one, then by label", () => {
  assert.deepEqual(bestOf([span(0.5, 1, 2), span(0.5, 0, 2)]), [span(0.5, 0, 2)]);
  assert.deepEqual(bestOf([span(0.5, 0, 2), span(0.5, 0, 1)]), [span(0.5, 0, 1)]);
  assert.deepEqual(bestOf([span(0.5, 0, 1, 1), span(0.5, 0, 1, 0)]), [span(0.5, 0, 1, 0)]);
});
