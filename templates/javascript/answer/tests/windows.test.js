/** Contexts that go through the model in parts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { threadOf } from "./thread-of.js";

/** @import { Text } from "../src/tokens.js" */

const { dimension } = CONTRACT.output;

CONTRACT.settings.room = 11;
const { Answerer } = await import("../src/answerer.js");

/**
 * An answerer for which each number is a word of one token. As an answer it has a thousandth of itself
 * for its score, and less behind others in its part; that there is none has a hundredth of the first.
 *
 * @param {number} [same] what every answer has instead
 */
function counting(same) {
  /** @type {string[]} */
  const parts = [];
  /** @type {number[]} */
  const rooms = [];
  const model = {
    chunks: async (/** @type {string[]} */ texts, /** @type {number} */ room) => {
      rooms.push(room);
      return texts.map((text) =>
        [...text.matchAll(/ ?\d+/g)].map(({ 0: found, index }) => {
          const end = index + found.length;
          const start = end - found.trim().length;
          return { start: index, end, tokens: 1, words: [{ start, end, first: 0, last: 1 }] };
        }),
      );
    },
    vectors: async (/** @type {Text[]} */ pairs) => {
      parts.push(...pairs.map(([, part]) => part));
      return pairs.map(([, part]) => {
        const numbers = part.trim().split(" ").map(Number);
        const scores = numbers.map((number, index) => number / 1000 - index / 10_000);
        const rows = [numbers[0] / 100, ...scores].map((score) => {
          return new Float32Array(dimension).fill(same ?? 0).fill(same ?? score, 0, 1);
        });
        return Float32Array.from(rows.flatMap((row) => [...row]));
      });
    },
  };
  /** @type {Parameters<typeof threadOf>[0]} */
  const ask = (method, ...args) => /** @type {any} */ (model)[method](...args);
  return { parts, rooms, model, answerer: new Answerer(threadOf(ask)) };
}

const numbers = Array.from({ length: 40 }, (_, index) => index + 10);
const context = numbers.join(" ");

test("parts have the room that the question leaves", async () => {
  const { parts, rooms, answerer } = counting();
  await answerer.answer("0", context);
  // What is cut has no more tokens, and a question is not.
  assert.deepEqual(rooms, [Infinity, 10]);
  assert.ok(parts.every((part) => part.trim().split(" ").length <= 10));
  assert.deepEqual(parts.slice(0, 2), [
    "10 11 12 13 14 15 16 17 18 19",
    " 15 16 17 18 19 20 21 22 23 24",
  ]);
  const few = counting();
  await few.answerer.answer("0 1 2 3 4 5 6 7", context);
  assert.deepEqual(few.parts.slice(0, 2), ["10 11 12", " 12 13 14"]);
});

test("an answer has its best score of all parts, and its place in the context", async () => {
  const { answerer } = counting();
  const found = await answerer.answer("0", context, { top: 1000 });
  const single = found.filter(({ text }) => !text.includes(" "));
  assert.equal(single.length, numbers.length);
  const [best] = found;
  assert.deepEqual([best.text, best.start], ["49", context.length - 2]);
  // It stands behind five others in the second part, and first in the third.
  const twenty = single.find(({ text }) => text === "20");
  assert.equal(twenty?.score, Math.fround(0.02));
  assert.equal(twenty?.start, context.indexOf("20"));
});

test("an answer may lie in the context of a piece", async () => {
  const { parts, model, answerer } = counting();
  const pieceOf = (/** @type {number} */ start, /** @type {number} */ inner) => {
    const words = [0, 1, 2].map((first) => {
      const place = start + 3 * first;
      return { start: place, end: place + 2, first, last: first + 1 };
    });
    return { start, end: start + 8, tokens: 3, words, inner };
  };
  model.chunks = async () => [[pieceOf(0, 0), pieceOf(3, 6)]];
  const found = await answerer.answer("0", "10 11 12 13", { top: 1000 });
  assert.deepEqual(parts, ["10 11 12", "11 12 13"]);
  const texts = ["10", "10 11", "10 11 12", "11", "11 12", "11 12 13", "12", "12 13", "13"];
  assert.deepEqual(found.map(({ text }) => text).toSorted(), texts);
  // It is the first word of the second piece.
  assert.equal(found.find(({ text }) => text === "11")?.score, Math.fround(0.011));
});

test("that there is no answer has the smallest score of all parts", async () => {
  const { answerer } = counting();
  const found = await answerer.answer("0", context, { top: 1000, noAnswer: true });
  const score = Math.fround(0.1);
  assert.deepEqual(
    found.filter(({ text }) => text === ""),
    [{ text: "", score, start: 0, end: 0 }],
  );
  assert.equal(found[0].text, "");
});

test("of equal answers the one that begins first comes first, then the shorter one", async () => {
  const { answerer } = counting(0.5);
  const found = await answerer.answer("0", context, { top: 10_000, noAnswer: true });
  assert.ok(found.length > numbers.length);
  assert.equal(found[0].text, "");
  assert.deepEqual(
    found,
    found.toSorted((a, b) => a.start - b.start || a.end - b.end),
  );
});

test("a question as long as the room is refused, and one token less is not", async () => {
  const { answerer } = counting();
  const long = "0 1 2 3 4 5 6 7 8 9 0";
  const message =
    'the question "0 1 2 3 4 5 6 7 8 9 0…" has 11 tokens; expected less than 11, ' +
    "which the context shares; shorten it";
  await assert.rejects(answerer.answer(long, context), { name: "LongTextError", message });
  const [best] = await answerer.answer(long.slice(2), context);
  assert.equal(best.text, "49");
});
