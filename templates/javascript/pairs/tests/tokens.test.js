/** How two texts become one row. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { LongTextError } from "../src/errors.js";

/** Two tokens of the tokenizer's own, and room for both texts. */
const PIECES = [
  { id: 90, text: null, type_id: 0 },
  { id: null, text: 0, type_id: 0 },
  { id: 91, text: null, type_id: 1 },
  { id: null, text: 1, type_id: 1 },
];

/**
 * The rows and tokens of another contract, for whose tokenizer a text is its characters' places in
 * the alphabet.
 *
 * @param {string} truncate
 * @param {object} [more]
 * @param {string} [more.side]
 * @param {number} [more.room]
 * @param {object[]} [more.pieces]
 */
async function open(truncate, { side = "right", room = 10, pieces = PIECES } = {}) {
  const pair = { pieces, truncate, truncation_side: side };
  Object.assign(CONTRACT, { pair, max_length: room + 2, vocab_size: 100 });
  // A module of its own, which reads the contract anew.
  const kind = [truncate, side, room, pieces === PIECES];
  const { idsOf, tokensOf } = await import(`../src/tokens.js?${kind}`);
  /** @type {string[][]} */
  const asked = [];
  const encode = async (/** @type {string[]} */ texts) => {
    asked.push(texts);
    return texts.map((text) => Array.from(text, (letter) => letter.charCodeAt(0) - 97));
  };
  return {
    asked,
    rows: (/** @type {string[][]} */ ...pairs) => idsOf(encode, pairs),
    tokens: async (/** @type {string[]} */ ...pair) => tokensOf((await idsOf(encode, [pair]))[0]),
  };
}

/** @param {number} length */
function letters(length) {
  return "abcdefghijklmnopqrstuvwxyz".slice(0, length);
}

/**
 * The tokens of two texts that were cut to so many.
 *
 * @param {number[]} sizes
 */
function cutTo([first, second]) {
  const typeIds = [...new Array(1 + first).fill(0), ...new Array(1 + second).fill(1)];
  return { ids: [90, ...Array(first).keys(), 91, ...Array(second).keys()], typeIds };
}

test("a row has each token's id, and its type as a multiple of the vocabulary", async () => {
  const { rows, tokens } = await open("longest_first");
  assert.deepEqual(await rows(["ab", "c"], ["", ""]), [
    [90, 0, 1, 191, 102],
    [90, 191],
  ]);
  const expected = { ids: [90, 0, 1, 91, 2], typeIds: [0, 0, 0, 1, 1] };
  assert.deepEqual(await tokens("ab", "c"), expected);
});

test("each text is tokenised once", async () => {
  const { rows, asked } = await open("longest_first");
  await rows(["q", "a"], ["q", "b"], ["a", "q"]);
  assert.deepEqual(asked, [["q", "a", "b"]]);
  assert.deepEqual(await rows(), []);
});

test("what a prompt has around a text is tokenised with it", async () => {
  const [first, text, ...others] = PIECES;
  const pieces = [first, { ...text, before: "c", after: "d", limit: 3 }, ...others];
  const { tokens, asked } = await open("longest_first", { pieces });
  assert.deepEqual((await tokens("ab", "a")).ids, [90, 2, 0, 1, 91, 0]);
  assert.deepEqual(asked, [["cabd", "a"]]);
});

test("the longer text is cut first", async () => {
  for (const [room, given, kept] of /** @type {[number, number[], number[]][]} */ ([
    [10, [3, 7], [3, 7]],
    [10, [3, 20], [3, 7]],
    [10, [20, 3], [7, 3]],
    [10, [0, 20], [0, 10]],
    [10, [8, 9], [5, 5]],
    [11, [20, 20], [5, 6]],
    [11, [20, 21], [5, 6]],
    [11, [21, 20], [6, 5]],
    [11, [6, 26], [5, 6]],
  ])) {
    const { tokens } = await open("longest_first", { room });
    const [first, second] = given;
    assert.deepEqual(await tokens(letters(first), letters(second)), cutTo(kept), `${given}`);
  }
});

test("or the one that may be", async () => {
  const first = await open("only_first");
  assert.deepEqual(await first.tokens(letters(20), letters(4)), cutTo([6, 4]));
  const second = await open("only_second");
  assert.deepEqual(await second.tokens(letters(9), letters(20)), cutTo([9, 1]));
});

test("a text may lose its beginning", async () => {
  const { tokens } = await open("only_second", { side: "left", room: 4 });
  assert.deepEqual((await tokens("abc", "xyz")).ids, [90, 0, 1, 2, 91, 25]);
  const { ids } = await (await open("longest_first", { side: "left", room: 3 })).tokens("", "wxyz");
  assert.deepEqual(ids, [90, 91, 23, 24, 25]);
});

test("a text that is not cut leaves room for the other", async () => {
  const { rows, tokens } = await open("only_first");
  const long = letters(10);
  const message =
    '"abcdefghij…" has 10 tokens; expected less than 10, which the text beside it shares; shorten it';
  const isSaid = (/** @type {unknown} */ error) => {
    assert.ok(error instanceof LongTextError);
    assert.equal(error.message, message);
    return true;
  };
  await assert.rejects(rows(["a", "b"], ["a", long]), isSaid);
  assert.deepEqual(await tokens("", long), cutTo([0, 10]));
  const { rows: others } = await open("only_second");
  await assert.rejects(others([long, "a"]), isSaid);
  const faces = "\u{1f600}".repeat(50);
  const start = `"${"\u{1f600}".repeat(40)}…" has 50 tokens`;
  const error = await others([faces, "a"]).catch((/** @type {Error} */ fault) => fault);
  assert.ok(error.message.startsWith(start));
});
