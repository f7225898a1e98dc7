/** What a classifier gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { Classifier, ClosedError } from "../src/index.js";
import { packed } from "../src/rows.js";
import { checkCases } from "../src/self-check.js";
import { fixture, manifest, modelPath } from "./model.js";

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
  /** @type {any} */
  const model = {
    facts: {},
    pack: async (/** @type {string[]} */ window) => packed(window.map(() => [])),
    run: async (/** @type {any} */ rows, /** @type {any} */ _, /** @type {any} */ take) => {
      const places = Array.from({ length: rows.length }, (_, place) => place);
      take(places, Float32Array.from(places.flatMap(() => scores)));
    },
    release: async () => {},
  };
  return new Classifier(model);
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

/**
 * @template T
 * @param {AsyncIterable<T>} stream
 */
async function listOf(stream) {
  /** @type {T[]} */
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, provider } = classifier;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([maxLength, provider], [manifest.contract.max_length, "CPUExecutionProvider"]);
  const words = `Classifier(${name}, ${labels.length} labels, CPUExecutionProvider, open)`;
  assert.equal(inspect(classifier), words);
});

test("its labels are the model's, and nobody changes them", () => {
  assert.deepEqual(classifier.labels, labels);
  assert.throws(() => classifier.labels.push("more"), TypeError);
});

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(
    {
      device: "cpu",
      tokenize: (texts) => classifier.tokenize(texts),
      run: (rows) => classifier.scoreIds(rows),
      vectors: (texts) => classifier.scores(texts),
    },
    fixture,
  );
  assert.equal(await classifier.selfCheck(), difference);
});

test("each text has its labels, best first", async () => {
  const scores = await classifier.scores(texts);
  assert.ok(scores.every((/** @type {unknown[]} */ row) => row.length === labels.length));
  const found = await classifier.classify(texts);
  assert.deepEqual(found, scores.map(ranked));
  assert.deepEqual(await listOf(classifier.classifyEach(texts)), found);
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
    assert.deepEqual(await listOf(classifier.classifyEach(texts, { top })), expected);
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
    assert.throws(() => classifier.classifyEach(texts, { top }), { name, message });
  }
});

test("options are an object of known keys", async () => {
  const example = "expected options such as { top: 3 }, got number";
  await assert.rejects(classifier.classify(texts, 3), { name: "TypeError", message: example });
  assert.throws(() => classifier.classifyEach(texts, 3), { name: "TypeError", message: example });
  for (const [method, known] of [
    ["classify", "top, signal, progress"],
    ["scores", "signal, progress"],
  ]) {
    const message = `unknown option "most"; choose one of: ${known}`;
    await assert.rejects(classifier[method](texts, { most: 1 }), { name: "TypeError", message });
  }
  const message = 'unknown option "progress"; choose one of: top, signal';
  const stream = () => classifier.classifyEach(texts, { progress: () => {} });
  assert.throws(stream, { name: "TypeError", message });
});

test("texts are a list of valid Unicode", async () => {
  const message = "expected a list of texts, got a string; call classify([text])";
  for (const method of ["classify", "scores", "tokenize"]) {
    await assert.rejects(classifier[method]("a"), { name: "TypeError", message });
    const fault = { name: "InvalidTextError", index: 1 };
    await assert.rejects(classifier[method](["a", "\ud800"]), fault);
  }
  assert.throws(() => classifier.classifyEach("a"), { name: "TypeError", message });
  const stream = classifier.classifyEach(["a", "\ud800"]);
  await assert.rejects(stream.next(), { name: "InvalidTextError", index: 1 });
});

test("progress counts the texts that are done, and a signal ends a call", async () => {
  for (const method of ["classify", "scores"]) {
    /** @type {number[]} */
    const counts = [];
    const progress = (/** @type {number} */ done) => counts.push(done);
    await classifier[method](texts, { progress });
    assert.equal(counts.at(-1), texts.length);
    const { signal } = new AbortController();
    assert.equal((await classifier[method](texts, { signal })).length, texts.length);
    const aborted = AbortSignal.abort(new RangeError("enough"));
    const call = classifier[method](texts, { signal: aborted });
    await assert.rejects(call, { name: "RangeError", message: "enough" });
  }
});

test("a stream takes whatever gives texts, and may be left", async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield "a";
    } finally {
      ended = true;
    }
  }
  const stub = scoring(labels.map(() => 0.5));
  for await (const found of stub.classifyEach(endless())) {
    assert.equal(found.length, labels.length);
    break;
  }
  assert.ok(ended);
});

test("nothing gives nothing", async () => {
  for (const method of ["classify", "scores", "tokenize", "scoreIds"]) {
    assert.deepEqual(await classifier[method]([]), []);
  }
  assert.deepEqual(await listOf(classifier.classifyEach([])), []);
});

test("in a thread of its own it gives the same", async () => {
  const worker = await Classifier.open(modelPath, { worker: true });
  assert.deepEqual(await worker.classify(texts), await classifier.classify(texts));
  await worker.close();
});

test("once closed, it is a ClosedError", async () => {
  const other = await Classifier.open(modelPath);
  await other.close();
  assert.ok(`${other}`.endsWith("closed)"));
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
  assert.throws(() => other.classifyEach(texts), ClosedError);
});
