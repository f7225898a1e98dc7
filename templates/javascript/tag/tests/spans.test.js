/** How labels of words become spans. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";

/** Of BIO, BILOU and a plain label. */
const MARKS = {
  O: { name: "", begins: false, ends: false },
  "B-A": { name: "A", begins: true, ends: false },
  "I-A": { name: "A", begins: false, ends: false },
  "L-A": { name: "A", begins: false, ends: true },
  "U-A": { name: "A", begins: true, ends: true },
  "I-B": { name: "B", begins: false, ends: false },
  C: { name: "C", begins: false, ends: false },
};
const labels = Object.keys(MARKS);

CONTRACT.settings.marks = Object.values(MARKS);
const { bestLabel, spansOf } = await import("../src/spans.js");

/**
 * The spans of words with these labels, which have the scores 1/1, 1/2, 1/3 …, by name and text.
 *
 * @param {string} given
 */
function joined(given) {
  const text = "a b c d e f";
  const words = given.split(" ").map((label, place) => ({
    start: 2 * place,
    end: 2 * place + 1,
    label: labels.indexOf(label),
    score: 1 / (place + 1),
  }));
  return spansOf(text, words).map(({ label, text }) => `${label}: ${text}`);
}

test("neighbours of one name are a span, unless one begins or ends between them", () => {
  for (const [given, ...expected] of [
    ["O O"],
    ["B-A I-A O B-A", "A: a b", "A: d"],
    ["B-A B-A I-A", "A: a", "A: b c"],
    ["I-A I-A", "A: a b"],
    ["I-A I-B I-A", "A: a", "B: b", "A: c"],
    ["B-A I-A L-A I-A", "A: a b c", "A: d"],
    ["U-A U-A I-A", "A: a", "A: b", "A: c"],
    ["I-A O I-A", "A: a", "A: c"],
    ["C C O C", "C: a b", "C: d"],
    ["O L-A L-A", "A: b", "A: c"],
    ["C I-A C", "C: a", "A: b", "C: c"],
  ]) {
    assert.deepEqual(joined(given), expected, given);
  }
});

test("a text without words has no spans", () => {
  assert.deepEqual(spansOf("a", []), []);
});

test("a span's score is the mean of its words', and its text is the text's", () => {
  const text = "\u{1f600} e\u0301 \u{1d4b3}.";
  const words = [
    { start: 0, end: 2, label: labels.indexOf("C"), score: 0.5 },
    { start: 3, end: 5, label: labels.indexOf("C"), score: 1 },
    { start: 6, end: 8, label: labels.indexOf("C"), score: 0.75 },
  ];
  const expected = { label: "C", score: 0.75, text: "\u{1f600} e\u0301 \u{1d4b3}" };
  assert.deepEqual(spansOf(text, words), [{ ...expected, start: 0, end: 8 }]);
});

test("a word's scores are the first token's, the mean, or the surest token's", () => {
  const rows = [
    [0.5, 0.25, 0.25],
    [0, 0.25, 0.75],
    [0, 0.75, 0.25],
  ].map((row) => Float32Array.from(row));
  assert.deepEqual(bestLabel(rows, "first"), { label: 0, score: 0.5 });
  assert.deepEqual(bestLabel(rows.slice(0, 2), "mean"), { label: 2, score: 0.5 });
  assert.deepEqual(bestLabel(rows, "max"), { label: 2, score: 0.75 });
});

test("of equal labels the first is the best", () => {
  const rows = [Float32Array.of(0.25, 0.375, 0.375), Float32Array.of(0.5, 0.375, 0.375)];
  assert.deepEqual(bestLabel(rows, "first"), { label: 1, score: 0.375 });
  assert.deepEqual(bestLabel(rows, "mean"), { label: 0, score: 0.375 });
});

test("scores are added in float64", () => {
  const rows = Array.from({ length: 3 }, () => Float32Array.of(0.1, 0));
  const tenth = Math.fround(0.1);
  const { score } = bestLabel(rows, "mean");
  assert.equal(score, (tenth + tenth + tenth) / 3);
  const words = [0, 1, 2].map((place) => ({ start: place, end: place + 1, label: 6, score }));
  assert.equal(spansOf("abc", words)[0].score, (score + score + score) / 3);
});
