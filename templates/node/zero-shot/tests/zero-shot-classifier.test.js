/** What a zero-shot classifier gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { CONTRACT } from "../src/contract.js";
import { ClosedError, LongTextError, ZeroShotClassifier } from "../src/index.js";
import { packed } from "../src/rows.js";
import { manifest, modelPath } from "./model.js";

/** @import { Label } from "../index.d.ts" */

const texts = ["a", "", "b c"];
const labels = ["d", "e", "f"];

/** Of wrong arguments, too. @type {any} */
const classifier = await ZeroShotClassifier.open(modelPath);
after(() => classifier.close());

/**
 * A classifier whose model gives each text these entailments and contradictions, one for each label.
 *
 * @param {[entailment: number, contradiction: number][]} rows
 */
function entailing(...rows) {
  let given = 0;
  /** @type {unknown[]} */
  const asked = [];
  /** @type {any} */
  const model = {
    facts: {},
    pack: async (/** @type {unknown[]} */ window) => {
      for (const pair of window) asked.push(pair);
      return packed(window.map(() => []));
    },
    run: async (/** @type {any} */ { length }, /** @type {any} */ _, /** @type {any} */ take) => {
      const places = Array.from({ length }, (_, place) => place);
      take(places, Float32Array.from(places.flatMap(() => rows[given++ % rows.length])));
    },
    release: async () => {},
  };
  return { asked, classifier: new ZeroShotClassifier(model) };
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

/** @param {Label[]} found */
function namesOf(found) {
  return found.map(({ label }) => label);
}

/**
 * @param {Label[]} found
 * @param {number[]} expected
 */
function assertScores(found, expected) {
  assert.equal(found.length, expected.length);
  for (const [place, { score }] of found.entries()) {
    assert.ok(Math.abs(score - expected[place]) < 1e-12, `${score} is not ${expected[place]}`);
  }
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, provider } = classifier;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([maxLength, provider], [manifest.contract.max_length, "CPUExecutionProvider"]);
  assert.equal(inspect(classifier), `ZeroShotClassifier(${name}, CPUExecutionProvider, open)`);
});

test("the scores of a text are 1 together, and of its entailments alone", async () => {
  const { classifier } = entailing([0, 9], [Math.log(2), -9], [Math.log(5), 0]);
  const found = await classifier.classify(["a", "b"], labels);
  for (const one of found) {
    assert.deepEqual(namesOf(one), ["f", "e", "d"]);
    const sum = one.reduce((total, { score }) => total + score, 0);
    assert.ok(Math.abs(sum - 1) < 1e-12);
    assert.ok(Math.abs(one[0].score - 5 / 8) < 1e-6);
  }
});

test("with several labels each score is a probability of its own", async () => {
  const { classifier } = entailing([0, 0], [1000, -1000], [-1000, 1000]);
  const [found] = await classifier.classify(["a"], labels, { multiLabel: true });
  assert.deepEqual(namesOf(found), ["e", "d", "f"]);
  assertScores(found, [1, 0.5, 0]);
  const small = entailing([0, 730], [0, 720]);
  const [last] = await small.classifier.classify(["a"], ["d", "e"], { multiLabel: true });
  assert.deepEqual(namesOf(last), ["e", "d"]);
});

test("one label alone is weighed against its contradiction", async () => {
  const { classifier } = entailing([1, 3]);
  for (const multiLabel of [true, false]) {
    const [[{ label, score }]] = await classifier.classify(["a"], ["d"], { multiLabel });
    assert.equal(label, "d");
    assert.ok(Math.abs(score - 1 / (1 + Math.exp(2))) < 1e-15);
  }
});

test("large numbers leave no score that is none", async () => {
  const { classifier } = entailing([3e38, 0], [-3e38, 0]);
  const [found] = await classifier.classify(["a"], ["d", "e"]);
  assertScores(found, [1, 0]);
});

test("equal scores have the order of the labels", async () => {
  for (const multiLabel of [true, false]) {
    const { classifier } = entailing([1, 0], [2, 1], [2, 1]);
    const [found] = await classifier.classify(["a"], labels, { multiLabel });
    assert.deepEqual(namesOf(found), multiLabel ? labels : ["e", "f", "d"]);
  }
});

test("each text is paired with each label in the template", async () => {
  const { classifier, asked } = entailing([0, 0]);
  await classifier.classify(["a", "b"], ["d", "$&"]);
  assert.deepEqual(asked.splice(0), [
    ["a", "This example is d."],
    ["a", "This example is $&."],
    ["b", "This example is d."],
    ["b", "This example is $&."],
  ]);
  await classifier.classify(["a"], ["d", "{}"], { template: "{}: {}?" });
  assert.deepEqual(asked, [
    ["a", "d: d?"],
    ["a", "{}: {}?"],
  ]);
});

test("its labels are those of its pairs, in a list and in a stream", async () => {
  const pairs = texts.flatMap((text) => labels.map((label) => [text, `Is it ${label}`]));
  const rows = await classifier.scorePairs(pairs);
  const options = { template: "Is it {}", multiLabel: true };
  const found = await classifier.classify(texts, labels, options);
  for (const [place, one] of found.entries()) {
    for (const { label, score } of one) {
      const row = rows[place * labels.length + labels.indexOf(label)];
      const [entailment, contradiction] = row;
      assert.ok(Math.abs(score - 1 / (1 + Math.exp(contradiction - entailment))) < 1e-12);
    }
  }
  assert.deepEqual(await listOf(classifier.classifyEach(texts, labels, options)), found);
  const plain = await classifier.classify(texts, labels);
  assert.deepEqual(await listOf(classifier.classifyEach(texts, labels)), plain);
});

test("top is how many labels of each text are given", async () => {
  const all = await classifier.classify(texts, labels);
  for (const top of [1, 2, labels.length + 1, undefined, null]) {
    const expected = all.map((/** @type {Label[]} */ one) => one.slice(0, top ?? one.length));
    assert.deepEqual(await classifier.classify(texts, labels, { top }), expected);
    assert.deepEqual(await listOf(classifier.classifyEach(texts, labels, { top })), expected);
  }
});

test("labels, template and the other options are judged", async () => {
  /** @type {[unknown, unknown, string, string][]} */
  const faults = [
    [[], {}, "RangeError", "labels is empty; give at least one"],
    [["d", "x", "x"], {}, "RangeError", 'labels[2] is "x" again; give each label once'],
    [["d", 5], {}, "TypeError", "labels[1] is number; expected a string"],
    [["d", "\ud800"], {}, "InvalidTextError", "labels[1] is not valid Unicode; repair or drop it"],
    ["d", {}, "TypeError", "expected a list of texts, got a string; put it into a list"],
    [labels, { template: "x" }, "RangeError", 'template is "x"; put {} where the label goes'],
    [labels, { template: 5 }, "TypeError", "template is number; expected a string"],
    [
      labels,
      { template: "{} \ud800" },
      "InvalidTextError",
      "template is not valid Unicode; repair or drop it",
    ],
    [labels, { multiLabel: 1 }, "TypeError", "multiLabel is number; expected true or false"],
    [labels, { top: 0 }, "RangeError", "top is 0; expected 1 or more"],
    [labels, { top: "3" }, "TypeError", "top is string; expected a whole number"],
    [labels, 3, "TypeError", "expected options such as { top: 3 }, got number"],
  ];
  for (const [given, options, name, message] of faults) {
    await assert.rejects(classifier.classify(texts, given, options), { name, message });
    assert.throws(() => classifier.classifyEach(texts, given, options), { name, message });
  }
  const known = "top, template, multiLabel, signal";
  const message = `unknown option "most"; choose one of: ${known}`;
  const stream = () => classifier.classifyEach(texts, labels, { most: 1 });
  assert.throws(stream, { name: "TypeError", message });
  const call = classifier.classify(texts, labels, { most: 1 });
  await assert.rejects(call, { name: "TypeError", message: `${message}, progress` });
});

test("options that are null are the default", async () => {
  const none = { template: null, multiLabel: null, top: null, signal: null, progress: null };
  const found = await classifier.classify(texts, labels, none);
  assert.deepEqual(found, await classifier.classify(texts, labels));
});

test("texts are a list of valid Unicode", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  await assert.rejects(classifier.classify("a", labels), { name: "TypeError", message });
  assert.throws(() => classifier.classifyEach("a", labels), { name: "TypeError", message });
  const fault = {
    name: "InvalidTextError",
    message: "texts[1] is not valid Unicode; repair or drop it",
    index: 1,
  };
  await assert.rejects(classifier.classify(["a", "\ud800"], labels), fault);
  await assert.rejects(listOf(classifier.classifyEach(["a", "\ud800"], labels)), fault);
});

test("a label may leave no room for a text", async (context) => {
  if (CONTRACT.pair?.truncate === "longest_first" || CONTRACT.max_length > 100_000) {
    return context.skip("of this model's pairs the longer text is cut");
  }
  const long = "a ".repeat(CONTRACT.max_length);
  const message = /^"This example is .{24}…" has \d+ tokens; expected less than \d+, which /;
  await assert.rejects(classifier.classify(texts, ["d", long]), { name: "LongTextError", message });
  const stream = classifier.classifyEach(texts, [long]);
  await assert.rejects(stream.next(), LongTextError);
  const worker = await ZeroShotClassifier.open(modelPath, { worker: true });
  await assert.rejects(worker.classify(texts, [long]), LongTextError);
  await worker.close();
});

test("progress counts pairs, and a signal ends a call", async () => {
  /** @type {number[]} */
  const counts = [];
  const progress = (/** @type {number} */ done) => counts.push(done);
  await classifier.classify(texts, labels, { progress });
  assert.equal(counts.at(-1), texts.length * labels.length);
  const signal = AbortSignal.abort(new RangeError("enough"));
  const call = classifier.classify(texts, labels, { signal });
  await assert.rejects(call, { name: "RangeError", message: "enough" });
});

test("a stream keeps the labels of a text together, and may be left", async () => {
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield "a";
    } finally {
      ended = true;
    }
  }
  // A window of 8,192 pairs ends amidst the labels of a text.
  const { classifier } = entailing([0, 0], [1, 0], [2, 0]);
  let count = 0;
  for await (const found of classifier.classifyEach(endless(), labels)) {
    assert.deepEqual(namesOf(found), ["f", "e", "d"]);
    if (++count === 3000) break;
  }
  assert.ok(ended);
});

test("no texts have no labels", async () => {
  assert.deepEqual(await classifier.classify([], labels), []);
  assert.deepEqual(await listOf(classifier.classifyEach([], labels)), []);
});

test("in a thread of its own it gives the same", async () => {
  const worker = await ZeroShotClassifier.open(modelPath, { worker: true });
  const found = await worker.classify(texts, labels);
  assert.deepEqual(found, await classifier.classify(texts, labels));
  await worker.close();
});

test("once closed, it is a ClosedError", async () => {
  const other = await ZeroShotClassifier.open(modelPath);
  await other.close();
  assert.ok(`${other}`.endsWith("closed)"));
  const fault = { name: "ClosedError", message: "the classifier is closed; open another" };
  for (const call of [
    () => other.classify(texts, labels),
    () => other.scorePairs([["a", "b"]]),
    () => other.tokenize([["a", "b"]]),
    () => other.scoreIds([{ ids: [1], typeIds: [0] }]),
    () => other.selfCheck(),
  ]) {
    await assert.rejects(call, fault);
  }
  assert.throws(() => other.classifyEach(texts, labels), ClosedError);
});
