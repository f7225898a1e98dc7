/** What a classifier gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Classifier } from "../src/index.js";
import { checkCases } from "../src/self-check.js";
import { fixture, manifest, modelPath } from "./model.js";
import { threadOf } from "./thread-of.js";

/** @type {{ labels: string[] }} */
const { labels } = manifest.contract.settings;
const texts = ["a", "", "b c"];

/** Of wrong arguments, too. @type {any} */
const classifier = await Classifier.open(modelPath);
after(() => classifier.close());

/**
 * A classifier whose model gives each text the same scores.
 *
 * @param {number[]} scores
 */
function scoring(scores) {
  const ask = async (/** @type {string} */ _, /** @type {string[]} */ window) =>
    window.map(() => Float32Array.from(scores));
  return new Classifier(threadOf(ask));
}

/**
 * The labels by their scores, as a stable sort has them.
 *
 * @param {Float32Array} scores
 */
function ranked(scores) {
  const found = labels.map((label, place) => ({ label, score: scores[place] }));
  return found.sort((a, b) => b.score - a.score);
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, provider } = classifier;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([maxLength, provider], [manifest.contract.max_length, "CPUExecutionProvider"]);
});

test("its labels are the model's, and nobody changes them", () => {
  assert.deepEqual(classifier.labels, labels);
  assert.throws(() => classifier.labels.push("more"), TypeError);
});

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(
    {
      tokenize: (texts) => classifier.tokenize(texts),
      run: (rows) => classifier.scoreIds(rows),
      vectors: (texts) => classifier.scores(texts),
    },
    fixture,
    "cpu",
  );
  assert.equal(await classifier.selfCheck(), difference);
});

test("each text has its labels, best first", async () => {
  const scores = await classifier.scores(texts);
  assert.ok(scores.every((/** @type {unknown[]} */ row) => row.length === labels.length));
  const found = await classifier.classify(texts);
  assert.deepEqual(found, scores.map(ranked));
});

test("equal scores have the order of the labels", async () => {
  const equal = scoring(labels.map(() => 0.5));
  const [found] = await equal.classify(["a"]);
  assert.deepEqual(
    found.map(({ label }) => label),
    labels,
  );
  const last = scoring(labels.map((_, place) => (place === labels.length - 1 ? 0.75 : 0.5)));
  const [[best, ...others]] = await last.classify(["a"]);
  assert.deepEqual(best, { label: labels.at(-1), score: 0.75 });
  assert.deepEqual(
    others.map(({ label }) => label),
    labels.slice(0, -1),
  );
});

test("top is how many labels of each text are given", async () => {
  const all = await classifier.classify(texts);
  for (const top of [1, 2, labels.length, labels.length + 1, undefined, null]) {
    const expected = all.map((/** @type {unknown[]} */ row) => row.slice(0, top ?? row.length));
    assert.deepEqual(await classifier.classify(texts, { top }), expected);
  }
});

test("top is a whole number, 1 or more", async () => {
  for (const [top, name, message] of /** @type {[unknown, string, string][]} */ ([
    [0, "RangeError", "top is 0; expected 1 or more"],
    [-1, "RangeError", "top is -1; expected 1 or more"],
    [1.5, "TypeError", "top is 1.5; expected a whole number"],
    ["3", "TypeError", "top is string; expected a whole number"],
    [true, "TypeError", "top is boolean; expected a whole number"],
  ])) {
    await assert.rejects(classifier.classify(texts, { top }), { name, message });
  }
});

test("options are an object of known keys", async () => {
  const example = "expected options such as { top: 3 }, got number";
  await assert.rejects(classifier.classify(texts, 3), { name: "TypeError", message: example });
  const message = 'unknown option "most"; choose one of: top';
  await assert.rejects(classifier.classify(texts, { most: 1 }), { name: "TypeError", message });
});

test("texts are a list of valid Unicode", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  for (const method of ["classify", "scores", "tokenize"]) {
    await assert.rejects(classifier[method]("a"), { name: "TypeError", message });
    const fault = { name: "InvalidTextError", index: 1 };
    await assert.rejects(classifier[method](["a", "\ud800"]), fault);
  }
});

test("nothing gives nothing", async () => {
  for (const method of ["classify", "scores", "tokenize", "scoreIds"]) {
    assert.deepEqual(await classifier[method]([]), []);
  }
});

test("once closed, it is a ClosedError", async () => {
  const other = await Classifier.open(modelPath);
  await other.close();
  const fault = { name: "ClosedError", message: "the classifier is closed; open another" };
  for (const call of [
    () => other.classify(texts),
    () => other.scores(texts),
    () => other.tokenize(texts),
    () => other.scoreIds([[1]]),
    () => other.selfCheck(),
  ]) {
    await assert.rejects(call, fault);
  }
});
