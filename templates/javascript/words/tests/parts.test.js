/** Texts of any length, a part at a time. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { partsOf, wordsOf } from "../src/parts.js";

/**
 * Chunks of so many tokens, with a word each.
 *
 * @param {...number} sizes
 */
function chunksOf(...sizes) {
  return sizes.map((tokens, place) => {
    const [start, end] = [2 * place, 2 * place + 2];
    return { start, end, tokens, words: [{ start, end, first: 0, last: tokens }] };
  });
}

/**
 * The places of the chunks of each part.
 *
 * @param {number} room
 * @param {...number} sizes
 */
function placesOf(room, ...sizes) {
  return partsOf(chunksOf(...sizes), room).map(({ first, last }) => [first, last]);
}

test("a text that fits is one part, and a blank one none", () => {
  assert.deepEqual(placesOf(6, 1, 2, 3), [[0, 3]]);
  assert.deepEqual(placesOf(6), []);
  assert.deepEqual(placesOf(6, 0), [[0, 1]]);
});

test("parts hold as many tokens as there is room, and share half of that", () => {
  assert.deepEqual(placesOf(6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), [
    [0, 6],
    [3, 9],
    [6, 10],
  ]);
  assert.deepEqual(placesOf(5, 2, 2, 2, 2), [
    [0, 2],
    [1, 3],
    [2, 4],
  ]);
});

test("no part lies within another where the next chunk does not fit", () => {
  assert.deepEqual(placesOf(6, 1, 1, 1, 1, 1, 6, 1), [
    [0, 5],
    [5, 6],
    [6, 7],
  ]);
});

test("parts share 128 tokens at most", () => {
  const ones = new Array(700).fill(1);
  assert.deepEqual(placesOf(500, ...ones), [
    [0, 500],
    [372, 700],
  ]);
});

test("a piece of a chunk is a part, however few tokens it has", () => {
  const [first, , ...others] = chunksOf(1, 1, 1, 9, 1, 1, 1);
  const pieces = others.slice(0, 3).map((chunk) => ({ ...chunk, inner: chunk.start }));
  const parts = partsOf([first, ...pieces, ...others.slice(3)], 6);
  assert.deepEqual(
    parts.map(({ first, last }) => [first, last]),
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 6],
    ],
  );
});

test("the tokens of words are counted through their part", () => {
  const words = wordsOf(chunksOf(2, 0, 3), 5).map(({ first, last }) => [first, last]);
  assert.deepEqual(words, [
    [0, 2],
    [2, 2],
    [2, 5],
  ]);
});

test("of a character that is cut, words without tokens are left out", () => {
  const words = [
    { start: 0, end: 1, first: 0, last: 2 },
    { start: 0, end: 1, first: 2, last: 4 },
    { start: 0, end: 1, first: 4, last: 6 },
  ];
  const chunk = { start: 0, end: 1, tokens: 6, words, inner: 0 };
  assert.deepEqual(wordsOf([chunk], 6), words);
  assert.deepEqual(wordsOf([chunk], 3), [words[0], { ...words[1], last: 3 }]);
  assert.deepEqual(wordsOf([chunk], 0), []);
});

test("other tokens than those of the chunks are an error", () => {
  for (const [sizes, tokens] of /** @type {[number[], number][]} */ ([
    [[2, 3], 4],
    [[2, 3], 6],
    [[5], 4],
    [[5], 6],
    [[], 1],
  ])) {
    const expected = sizes.reduce((sum, size) => sum + size, 0);
    const message =
      `the tokenizer gives ${tokens} tokens for a text, and ${expected} for what stands between ` +
      "its white space, so that no word's tokens are known; take special tokens out of it";
    assert.throws(() => wordsOf(chunksOf(...sizes), tokens), { name: "ModelError", message });
  }
});
