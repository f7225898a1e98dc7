/** What a classifier of pairs gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PairClassifier } from "../src/index.js";
import { fixture, manifest, modelPath } from "./model.js";
import { threadOf } from "./thread-of.js";

/** @type {{ labels: string[] }} */
const { labels } = manifest.contract.settings;
const pairs = [
  ["a", "b"],
  ["", ""],
  ["b c", "d"],
];

/** Of wrong arguments, too. @type {any} */
const classifier = await PairClassifier.open(modelPath);
after(() => classifier.close());

/** @param {number[]} scores of every pair */
function scoring(scores) {
  const ask = async (/** @type {string} */ _, /** @type {unknown[]} */ window) =>
    window.map(() => Float32Array.from(scores));
  return new PairClassifier(threadOf(ask));
}

/** @param {any[]} found */
const namesOf = (found) => found.map(({ label }) => label);

test("it tells the facts of its model", () => {
  const { name, fingerprint, provider } = classifier;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.equal(provider, "CPUExecutionProvider");
  assert.deepEqual(classifier.labels, labels);
  assert.throws(() => classifier.labels.push("more"), TypeError);
});

test("it reproduces every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  for (const { call, answer } of /** @type {any[]} */ (fixture.cases)) {
    const found = await classifier.classify(call.texts);
    for (const [place, expected] of answer.entries()) {
      assert.deepEqual(namesOf(found[place]).sort(), namesOf(expected).sort());
      for (const { label, score } of expected) {
        const mine = found[place].find((/** @type {any} */ one) => one.label === label);
        assert.ok(Math.abs(mine.score - score) <= 1e-5);
      }
    }
  }
  assert.ok((await classifier.selfCheck()) >= 0);
});

test("each pair has its labels, best first", async () => {
  const scores = await classifier.scorePairs(pairs);
  const ranked = (/** @type {Float32Array} */ row) =>
    labels.map((label, place) => ({ label, score: row[place] })).sort((a, b) => b.score - a.score);
  assert.deepEqual(await classifier.classify(pairs), scores.map(ranked));
});

test("equal scores have the order of the labels", async () => {
  const [found] = await scoring(labels.map(() => 0.5)).classify([["a", "b"]]);
  assert.deepEqual(namesOf(found), labels);
  const last = scoring(labels.map((_, place) => (place === labels.length - 1 ? 0.75 : 0.5)));
  const [[best]] = await last.classify([["a", "b"]], { top: 1 });
  assert.deepEqual(best, { label: labels.at(-1), score: 0.75 });
});

test("top is how many labels of each pair are given", async () => {
  const all = await classifier.classify(pairs);
  for (const top of [1, labels.length + 1, undefined, null]) {
    const expected = all.map((/** @type {unknown[]} */ row) => row.slice(0, top ?? row.length));
    assert.deepEqual(await classifier.classify(pairs, { top }), expected);
  }
  const message = "top is 0; expected 1 or more";
  await assert.rejects(classifier.classify(pairs, { top: 0 }), { name: "RangeError", message });
});

test("pairs are two strings each, of valid Unicode", async () => {
  const message = "pairs[1] is string; expected two strings";
  await assert.rejects(classifier.classify([pairs[0], "ab"]), { name: "TypeError", message });
  const fault = { name: "InvalidTextError", index: 1 };
  await assert.rejects(classifier.classify([pairs[0], ["a", "\ud800"]]), fault);
});

test("nothing gives nothing", async () => {
  assert.deepEqual(await classifier.classify([]), []);
});

test("once closed, it is a ClosedError", async () => {
  const other = await PairClassifier.open(modelPath);
  await other.close();
  const fault = { name: "ClosedError", message: "the classifier is closed; open another" };
  await assert.rejects(() => other.classify([["a", "b"]]), fault);
});
