/** Texts that go through the model in parts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { threadOf } from "./thread-of.js";

const { max_length, settings } = CONTRACT;
const { before_label, before_text, width } = settings;
const labels = ["x", "y"];

// So many that the scores of one part are all that is in memory.
settings.most_words = 2 ** 24;
const { ROOM } = await import("../src/tokens.js");
const { ZeroShotTagger } = await import("../src/zero-shot-tagger.js");

/**
 * A tagger whose tokenizer makes a token of each letter, and whose model gives spans these scores.
 *
 * @param {(letter: string, label: string, words: number) => number} score by the first letter
 */
function scoring(score) {
  /** @type {[string, string][][]} */
  const asked = [];
  const model = {
    tokenize: async (/** @type {string[][]} */ pairs) =>
      pairs.map((pair) => new Array(Math.min(pair.join("").length, ROOM) + max_length - ROOM)),
    vectors: async (/** @type {[string, string][]} */ pairs) => {
      asked.push(pairs);
      return pairs.map(([, text]) => {
        const of = (/** @type {string} */ word) =>
          labels.flatMap((label) =>
            Array.from({ length: width }, (_, more) => score(word[0], label, more + 1)),
          );
        return Float32Array.from(text.split(" ").flatMap(of));
      });
    },
  };
  /** @type {Parameters<typeof threadOf>[0]} */
  const ask = (method, ...args) => /** @type {any} */ (model)[method](...args);
  return { asked, tagger: new ZeroShotTagger(threadOf(ask)) };
}

test("a span's score exceeds the threshold", async () => {
  const { tagger } = scoring((letter, label, words) =>
    words === 1 && label === "y" ? Number(letter) / 8 : 0,
  );
  const found = async (/** @type {{ threshold?: number | null }} */ options) => {
    const [spans] = await tagger.tag(["0 1 2 3 4 5"], labels, options);
    return spans.map(({ text }) => text).join("");
  };
  assert.equal(await found({}), "5");
  assert.equal(await found({ threshold: null }), "5");
  assert.equal(await found({ threshold: 0.25 }), "345");
  assert.equal(await found({ threshold: 0 }), "12345");
  assert.equal(await found({ threshold: 1 }), "");
});

test("of spans that share a word the better one is taken", async () => {
  const { tagger } = scoring((letter, label, words) => {
    if (words === 1) return label === "x" ? 0.75 : 0;
    return letter === "b" && words === 2 && label === "y" ? 0.875 : 0;
  });
  const [spans] = await tagger.tag(["a b \u{1f600} d"], labels);
  assert.deepEqual(spans, [
    { label: "x", score: 0.75, text: "a", start: 0, end: 1 },
    { label: "y", score: 0.875, text: "b \u{1f600}", start: 2, end: 6 },
    { label: "x", score: 0.75, text: "d", start: 7, end: 8 },
  ]);
});

test("parts have the room that the labels leave, and no word is lost", async () => {
  const { asked, tagger } = scoring((_, label, words) => (words === 1 && label === "x" ? 1 : 0));
  const long = new Array(2 * ROOM).fill("ab").join(" ");
  const [found, none, short] = await tagger.tag([long, "", "a b"], labels);
  assert.deepEqual(
    found.map(({ start }) => start),
    Array.from({ length: 2 * ROOM }, (_, place) => 3 * place),
  );
  assert.deepEqual([none, short.map(({ text }) => text)], [[], ["a", "b"]]);
  assert.ok(asked.length > 4);
  const prompt = `${before_label}x${before_label}y${before_text}`;
  for (const [[first, text], ...others] of asked) {
    assert.deepEqual([first, others], [prompt, []]);
    assert.ok(first.length + text.replaceAll(" ", "").length <= ROOM);
  }
});
