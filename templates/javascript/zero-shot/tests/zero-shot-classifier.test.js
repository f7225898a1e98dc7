/** What a zero-shot classifier gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { ZeroShotClassifier } from "../src/index.js";
import { manifest, modelPath } from "./model.js";
import { threadOf } from "./thread-of.js";

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
  const ask = async (/** @type {string} */ _, /** @type {unknown[]} */ window) => {
    asked.push(...window);
    return window.map(() => Float32Array.from(rows[given++ % rows.length]));
  };
  return { asked, classifier: new ZeroShotClassifier(threadOf(ask)) };
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

test("its labels are those of its pairs", async () => {
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
});

test("top is how many labels of each text are given", async () => {
  const all = await classifier.classify(texts, labels);
  for (const top of [1, 2, labels.length + 1, undefined, null]) {
    const expected = all.map((/** @type {Label[]} */ one) => one.slice(0, top ?? one.length));
    assert.deepEqual(await classifier.classify(texts, labels, { top }), expected);
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
  }
  const message = 'unknown option "most"; choose one of: top, template, multiLabel';
  const call = classifier.classify(texts, labels, { most: 1 });
  await assert.rejects(call, { name: "TypeError", message });
});

test("options that are null are the default", async () => {
  const none = { template: null, multiLabel: null, top: null };
  const found = await classifier.classify(texts, labels, none);
  assert.deepEqual(found, await classifier.classify(texts, labels));
});

test("texts are a list of valid Unicode", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  await assert.rejects(classifier.classify("a", labels), { name: "TypeError", message });
  const fault = {
    name: "InvalidTextError",
    message: "texts[1] is not valid Unicode; repair or drop it",
    index: 1,
  };
  await assert.rejects(classifier.classify(["a", "\ud800"], labels), fault);
});

test("a label may leave no room for a text", async (context) => {
  if (CONTRACT.pair?.truncate === "longest_first" || CONTRACT.max_length > 100_000) {
    return context.skip("of this model's pairs the longer text is cut");
  }
  const long = "a ".repeat(CONTRACT.max_length);
  const message = /^"This example is .{24}…" has \d+ tokens; expected less than \d+, which /;
  await assert.rejects(classifier.classify(texts, ["d", long]), { name: "LongTextError", message });
});

test("no texts have no labels", async () => {
  assert.deepEqual(await classifier.classify([], labels), []);
});

test("once closed, it is a ClosedError", async () => {
  const other = await ZeroShotClassifier.open(modelPath);
  await other.close();
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
});
