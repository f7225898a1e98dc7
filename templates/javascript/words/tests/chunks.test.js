/** The words of texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, RULES } from "./rules.js";

/** @import { Token } from "./rules.js" */

/**
 * @param {string} tokens
 * @returns {Token[]}
 */
function parsed(tokens) {
  return tokens.split(" ").map(([start, end, word]) => {
    return [Number(start), Number(end), word === "-" ? null : Number(word)];
  });
}

test("a chunk is a gap and what follows, its words are those of the tokenizer", async () => {
  for (const rule of ["continuation", "gpt2"]) {
    const { chunks } = await open(rule);
    assert.deepEqual(await chunks("ab cd."), [
      [
        { start: 0, end: 2, tokens: 2, words: [{ start: 0, end: 2, first: 0, last: 2 }] },
        {
          start: 2,
          end: 6,
          tokens: 3,
          words: [
            { start: 3, end: 5, first: 0, last: 2 },
            { start: 5, end: 6, first: 2, last: 3 },
          ],
        },
      ],
    ]);
  }
});

test("where words end at gaps alone, a chunk has one", async () => {
  const { chunks, words } = await open("gaps");
  const [[, chunk]] = await chunks("ab cd.");
  assert.deepEqual(chunk.words, [{ start: 3, end: 6, first: 0, last: 3 }]);
  assert.deepEqual(await words("*ab-c* (d)\te\r\nf."), ["*ab-c*", "(d)", "e", "f."]);
});

test("a word ends where the next one begins, or the chunk", async () => {
  const { words } = await open("continuation");
  assert.deepEqual(await words("*ab*,* c*"), ["ab*", ",*", "c*"]);
});

test("a word ends before white space, and one of white space is none", async () => {
  for (const rule of RULES) {
    const { words } = await open(rule);
    const text = "a\u3000\u00a0 b\u0085  \u00a0\u2028 \u180e c\ufeff \n";
    // U+180E and U+FEFF are no white space.
    const expected = rule === "gaps" ? ["a", "b", "\u180e", "c\ufeff"] : undefined;
    const found = await words(text);
    assert.deepEqual(found, expected ?? ["a", "b", "\u180e", "c", "\ufeff"]);
  }
});

test("places are counted in UTF-16, whatever the tokenizer counts", async () => {
  const text = " \u{1f600}e\u0301 \u{1d4b3}y\u{1d4b3}.";
  const { words } = await open("continuation");
  assert.deepEqual(await words(text), ["\u{1f600}", "e\u0301", "\u{1d4b3}y\u{1d4b3}", "."]);
  const { chunks } = await open("gaps");
  const [[, { start, end, tokens }]] = await chunks(text);
  assert.deepEqual([start, end, tokens], [5, 12, 4]);
});

test("tokens of a gap are of no word, unless the tokenizer begins it with them", async () => {
  for (const rule of RULES) {
    // Tokens by their starts, ends and words, in "  ab  ".
    for (const [tokens, first, last] of /** @type {[string, number, number][]} */ ([
      ["010 141", 1, 2],
      ["010 121 232 342", 2, 4],
      ["030 340", 0, 2],
      ["230 340 461", 0, 2],
      ["230 340 45- 561", 0, 2],
    ])) {
      const { chunks } = await open(rule, () => parsed(tokens));
      const [[{ words }]] = await chunks("  ab  ");
      assert.deepEqual(words, [{ start: 2, end: 4, first, last }]);
    }
  }
});

test("a chunk may have no tokens, and a text no chunks", async () => {
  for (const rule of RULES) {
    const { chunks } = await open(rule);
    const nothing = { start: 0, end: 4, tokens: 0, words: [] };
    assert.deepEqual(await chunks("", " \t\r\n ", " ** "), [[], [], [nothing]]);
    assert.deepEqual(await chunks(), []);
  }
});

test("the gap at the end of a text is of its last chunk", async () => {
  const { chunks } = await open("gaps");
  const [found] = await chunks("\n a  b \t\n");
  assert.deepEqual(
    found.map(({ start, end }) => [start, end]),
    [
      [0, 3],
      [3, 9],
    ],
  );
});

test("of equal chunks the tokenizer sees one", async () => {
  const { asked, chunks } = await open("gaps");
  const [one, other] = await chunks("a b a b", "a b");
  assert.deepEqual(asked, [["a", " b", " a"]]);
  assert.deepEqual(one.slice(0, 2), other);
  assert.deepEqual(one[3].words, [{ start: 6, end: 7, first: 0, last: 1 }]);
});

test("a long blank text takes no longer than another", { timeout: 10_000 }, async () => {
  const { chunks } = await open("gaps");
  const [blank, other] = await chunks(" ".repeat(300_000), `${" ".repeat(300_000)}a`);
  assert.deepEqual([blank.length, other.length], [0, 1]);
});
