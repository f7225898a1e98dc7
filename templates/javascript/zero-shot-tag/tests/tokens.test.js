/** How labels and a text become one row. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";

const pieces = [
  { id: 90, text: null, type_id: 0 },
  { id: null, text: 0, type_id: 0 },
  { id: null, text: 1, type_id: 0, words: true },
  { id: 91, text: null, type_id: 0 },
];

Object.assign(CONTRACT, { pair: { pieces }, max_length: 10, vocab_size: 100 });
const { idsOf, rowOf, tokensOf, wordsOf } = await import("../src/tokens.js");
const { LongTextError } = await import("../src/errors.js");

/** @type {string[][]} */
const asked = [];

/** A letter's place in the alphabet; other characters have no token. @param {string[]} texts */
async function encode(texts) {
  asked.push(texts);
  return texts.map((text) => [...text].filter((one) => /[a-z]/.test(one)).map(idOf));
}

/** @param {string} letter */
function idOf(letter) {
  return letter.charCodeAt(0) - 97;
}

/** @param {[string, string][]} pairs */
async function tokens(...pairs) {
  return (await idsOf(encode, pairs)).map(tokensOf);
}

test("words are letters and numbers, or single characters", () => {
  for (const [text, ...words] of [
    ["Ada's well-known x_y", "Ada", "'", "s", "well-known", "x_y"],
    ["a--b -c- _d e-_f", "a", "-", "-", "b", "-", "c", "-", "_d", "e-_f"],
    ["東京、①½ é e\u0301", "東京", "、", "①½", "é", "e", "\u0301"],
    ["\u{1d50a}\u{1f600} \u{1f1e9}\u{1f1ea}", "\u{1d50a}", "\u{1f600}", "\u{1f1e9}", "\u{1f1ea}"],
    ["a\x1cb\x1fc\x85d\xa0e\u3000f", "a", "b", "c", "d", "e", "f"],
    ["a\x1bb\u180ec\u200bd\ufeff", "a", "\x1b", "b", "\u180e", "c", "\u200b", "d", "\ufeff"],
    [" \t\n"],
  ]) {
    const found = wordsOf(text);
    assert.deepEqual(
      found.map(({ word }) => word),
      words,
    );
    for (const { word, start, end } of found) assert.equal(text.slice(start, end), word);
  }
});

test("each word is tokenised by itself, and its first token has a type of its own", async () => {
  assert.deepEqual(await tokens(["ab", "cd e"], ["", ""]), [
    { ids: [90, 0, 1, 2, 3, 4, 91], typeIds: [0, 0, 0, 2, 0, 2, 0] },
    { ids: [90, 91], typeIds: [0, 0] },
  ]);
});

test("each string is tokenised once", async () => {
  asked.splice(0);
  await tokens(["q", "a b a"], ["q", "b"], ["a", "q"]);
  assert.deepEqual(asked, [["q", "a", "b"]]);
  assert.deepEqual(await tokens(), []);
});

test("the text is cut at its end, within a word, too", async () => {
  const [{ ids, typeIds }] = await tokens(["a", "bcd e fgh ijk"]);
  assert.deepEqual(ids, [90, 0, 1, 2, 3, 4, 5, 6, 7, 91]);
  assert.deepEqual(typeIds, [0, 0, 2, 0, 0, 2, 2, 0, 0, 0]);
});

test("a word without tokens is left out", async () => {
  assert.deepEqual((await tokens(["a", "b \u{1f600} c"]))[0], {
    ids: [90, 0, 1, 2, 91],
    typeIds: [0, 0, 2, 2, 0],
  });
});

test("labels that leave no room are refused, and one token less is not", async () => {
  assert.deepEqual((await tokens(["abcdefg", "xyz"]))[0].ids, [90, 0, 1, 2, 3, 4, 5, 6, 23, 91]);
  const message =
    'the labels "abcdefgh…" have 8 tokens; expected less than 8, which the text shares; ' +
    "give fewer or shorter ones";
  await assert.rejects(tokens(["a", "b"], ["abcdefgh", "b"]), (error) => {
    assert.ok(error instanceof LongTextError);
    assert.equal(error.message, message);
    return true;
  });
  const long = "\u{1f600}".repeat(41) + "a".repeat(9);
  const error = await tokens([long, ""]).catch((/** @type {Error} */ fault) => fault);
  assert.ok(error instanceof LongTextError);
  assert.ok(error.message.startsWith(`the labels "${"\u{1f600}".repeat(40)}…" have 9 tokens`));
});

test("a row has each token's id, and its type as a multiple of the vocabulary", () => {
  const row = rowOf([0, 99, 5], [0, 2, 0]);
  assert.deepEqual(row, [0, 299, 5]);
  assert.deepEqual(tokensOf(row), { ids: [0, 99, 5], typeIds: [0, 2, 0] });
});
