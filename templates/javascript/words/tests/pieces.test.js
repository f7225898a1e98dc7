/** Chunks that are too long. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, RULES } from "./rules.js";

/** @import { Chunk } from "../src/chunk.js" */
/** @import { Token } from "./rules.js" */

/**
 * Where chunks begin and end, and where pieces begin behind their context.
 *
 * @param {Chunk[]} chunks
 */
function placesOf(chunks) {
  return chunks.map(({ start, end, inner }) => [start, end, inner]);
}

/**
 * A token for each character, and a word.
 *
 * @param {string} chunk
 * @returns {Token[]}
 */
function charactersOf(chunk) {
  return Array.from(chunk, (_, place) => [place, place + 1, place]);
}

test("a chunk of as many tokens as there is room is cut, and of one less is not", async () => {
  for (const rule of RULES) {
    const whole = await open(rule, undefined, 6);
    assert.deepEqual(placesOf((await whole.chunks("a bcdef"))[0]), [
      [0, 1, undefined],
      [1, 7, undefined],
    ]);
    const { chunks } = await open(rule, undefined, 5);
    assert.deepEqual(placesOf((await chunks("a bcdef g"))[0]), [
      [0, 1, undefined],
      [1, 4, 1],
      [4, 7, 4],
      [7, 9, undefined],
    ]);
  }
});

test("where words end at gaps alone, each piece is one", async () => {
  const { chunks } = await open("gaps", undefined, 5);
  const [[, ...pieces]] = await chunks("a bc,efgh");
  assert.deepEqual(pieces, [
    { start: 1, end: 5, tokens: 3, words: [{ start: 2, end: 5, first: 0, last: 3 }], inner: 1 },
    { start: 5, end: 9, tokens: 4, words: [{ start: 5, end: 9, first: 0, last: 4 }], inner: 5 },
  ]);
});

test("else it has an eighth of the room on each side, within the chunk", async () => {
  for (const rule of ["continuation", "gpt2"]) {
    const { chunks, words } = await open(rule, undefined, 16);
    const text = `a abcdefghi${",".repeat(16)} b`;
    assert.deepEqual(placesOf((await chunks(text))[0]), [
      [0, 1, undefined],
      [1, 16, 1],
      [12, 27, 14],
      [27, 29, undefined],
    ]);
    assert.equal((await words(text)).join(""), `aabcdefghi${",".repeat(20)}b`);
  }
});

test("it has 64 characters at most", async () => {
  const { chunks } = await open("continuation", undefined, 1000);
  assert.deepEqual(placesOf((await chunks("a".repeat(1500)))[0]), [
    [0, 814, 0],
    [686, 1500, 750],
  ]);
});

test("halves are of characters, and placed in UTF-16", async () => {
  const gaps = await open("gaps", undefined, 4);
  assert.deepEqual(placesOf((await gaps.chunks("\u{1f600} ab\u{1f600}\u{1f600}\u{1f600}"))[0]), [
    [0, 2, undefined],
    [2, 5, 2],
    [5, 11, 5],
  ]);
  const { chunks } = await open("continuation", undefined, 8);
  assert.deepEqual(placesOf((await chunks("\u{1f600}".repeat(8)))[0]), [
    [0, 10, 0],
    [6, 16, 8],
  ]);
});

test("a piece that is all gap has no words, and one may begin or end in a gap", async () => {
  for (const rule of RULES) {
    const { chunks, words } = await open(rule, charactersOf, 4);
    for (const text of ["        ab", "ab        ", "     ab \n \t"]) {
      assert.equal((await words(text)).join(""), "ab");
      const [pieces] = await chunks(text);
      assert.ok(pieces.some((piece) => piece.words.length === 0));
    }
  }
});

test("a character cannot be cut", async () => {
  const { chunks } = await open("gaps", (chunk) => [...charactersOf(chunk), [0, 1, 0]], 2);
  const [pieces] = await chunks("ab");
  assert.deepEqual(
    pieces.map(({ start, end, tokens }) => [start, end, tokens]),
    [
      [0, 1, 2],
      [1, 2, 2],
    ],
  );
});

test("pieces make up their chunk", async () => {
  const text = `${"ab,\u{1f600}c\u0301 ".repeat(5)}${"a,b\u{1d4b3}.".repeat(40)} \n c${" ".repeat(30)}d`;
  for (const rule of RULES) {
    for (const room of [1, 2, 3, 8, 20, 50]) {
      const { chunks } = await open(rule, charactersOf, room);
      const [found] = await chunks(text);
      const firsts = found.map(({ start, inner }) => inner ?? start);
      for (const [place, { start, end, tokens, words }] of found.entries()) {
        const [first, last] = [firsts[place], firsts[place + 1] ?? text.length];
        assert.ok(start <= first && first < last && last <= end);
        assert.ok(tokens < room || [...text.slice(first, last)].length === 1);
        for (const word of words) {
          assert.ok(start <= word.start && word.start < word.end && word.end <= end);
          assert.ok(word.first < word.last && word.last <= tokens);
        }
      }
      assert.equal(firsts[0], 0);
    }
  }
});

test("equal chunks are cut once", async () => {
  const { asked, chunks } = await open("gaps", undefined, 4);
  const [found] = await chunks("x abcdef x abcdef");
  assert.deepEqual(asked, [["x", " abcdef", " x"], [" abcdef"], [" ab"], ["cdef"], ["cd"], ["ef"]]);
  assert.deepEqual(placesOf(found.slice(5)), [
    [10, 13, 10],
    [13, 15, 13],
    [15, 17, 15],
  ]);
});
