/** What a zero-shot tagger finds. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inCharacters } from "../harness/in-characters.js";
import { CONTRACT } from "../src/contract.js";
import { ZeroShotTagger } from "../src/index.js";
import { fixture, manifest, modelPath, writeFile } from "./model.js";

/** @import { Span } from "../index.d.ts" */

const { before_label, before_text, most_words, width } = CONTRACT.settings;
const texts = ["Ada Lovelace, of London", "", "\u{1f469}\u200d\u{1f680} e\u0301 x", " \t\n"];
const labels = ["person", "city"];
const all = { threshold: 0 };

/** Of wrong arguments, too. @type {any} */
const tagger = await ZeroShotTagger.open(modelPath);
after(() => tagger.close());

/** @param {Span} span */
function placed({ label, text, start, end }) {
  return { label, text, start, end };
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, provider } = tagger;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([maxLength, provider], [manifest.contract.max_length, "CPUExecutionProvider"]);
});

test("a file of another task is refused", async () => {
  const path = await writeFile({ contract: { ...manifest.contract, task: "embed" } });
  await assert.rejects(ZeroShotTagger.open(path), { name: "ModelError" });
});

test("each text has the spans that the golden cases say", async () => {
  const cases = /** @type {any[]} */ (fixture.cases).filter(({ call }) => call);
  let spans = 0;
  for (const { call, answer } of cases) {
    const { threshold } = call;
    const found = await tagger.tag(call.texts, call.labels, { threshold });
    for (const [place, text] of call.texts.entries()) {
      const own = inCharacters(/** @type {Span[]} */ (found[place]), text);
      assert.deepEqual(own.map(placed), answer[place].map(placed));
      for (const [index, { score }] of own.entries()) {
        assert.ok(Math.abs(score - answer[place][index].score) < 1e-4);
      }
      spans += own.length;
    }
  }
  assert.ok(spans > 0);
});

test("spans are slices of their text, and no two share a word", async () => {
  const found = await tagger.tag(texts, labels, all);
  assert.deepEqual(
    found.map((/** @type {Span[]} */ { length }) => length > 0),
    [true, false, true, false],
  );
  for (const [place, spans] of found.entries()) {
    let behind = 0;
    for (const { label, text, start, end } of spans) {
      assert.ok(labels.includes(label));
      assert.equal(text, texts[place].slice(start, end));
      assert.ok(text.isWellFormed() && text !== "" && start >= behind);
      behind = end;
    }
  }
});

test("a long text loses no word", async () => {
  const text = "ab ".repeat(2 * most_words);
  const [spans] = await tagger.tag([text], labels, all);
  const words = spans.flatMap((/** @type {Span} */ one) => one.text.split(" "));
  assert.deepEqual(words, text.trim().split(" "));
});

test("a prompt names labels, and span scores are of words and labels", async () => {
  const prompt = ZeroShotTagger.labelPrompt(labels);
  assert.equal(prompt, `${before_label}person${before_label}city${before_text}`);
  const pairs = [
    [prompt, "a b c"],
    [prompt, ""],
  ];
  const [rows, none] = await tagger.spanScores(pairs);
  assert.deepEqual([rows.length, none.length], [3 * labels.length, 0]);
  for (const row of rows) {
    assert.equal(row.length, width);
    assert.ok(row.every((/** @type {number} */ score) => score >= 0 && score <= 1));
  }
  // No span of more words begins with the last one.
  for (const row of rows.slice(-labels.length)) {
    assert.deepEqual([...row.slice(1)], new Array(width - 1).fill(0));
  }
  assert.deepEqual(await tagger.spanScores(pairs), await tagger.scorePairs(pairs));
  const tokens = await tagger.tokenize(pairs);
  assert.deepEqual(await tagger.spanIds(tokens), await tagger.scoreIds(tokens));
});

test("labels and threshold are judged", async () => {
  /** @type {any[][]} */
  const faults = [
    [[], {}, "RangeError", "labels is empty; give at least one"],
    [["a", "b", "a"], {}, "RangeError", 'labels[2] is "a" again; give each label once'],
    [["a", 5], {}, "TypeError", "labels[1] is number; expected a string"],
    [["\ud800"], {}, "InvalidTextError", "labels[0] is not valid Unicode; repair or drop it"],
    ["a", {}, "TypeError", "expected a list of texts, got a string; put it into a list"],
    ...[before_label, before_text].map((mark) => [
      ["a", `b${mark}c`],
      {},
      "RangeError",
      `labels[1] holds ${mark}, which parts labels; leave it out`,
    ]),
    ...[2, -0.1, Number.NaN].map((threshold) => [
      labels,
      { threshold },
      "RangeError",
      `threshold is ${threshold}; expected a number from 0 to 1`,
    ]),
    [
      labels,
      { threshold: "0.5" },
      "TypeError",
      "threshold is string; expected a number from 0 to 1",
    ],
    [labels, 3, "TypeError", "expected options such as { threshold: 0.3 }, got number"],
    [labels, { top: 1 }, "TypeError", 'unknown option "top"; choose one of: threshold'],
  ];
  for (const [given, options, name, message] of faults) {
    await assert.rejects(tagger.tag(texts, given, options), { name, message });
  }
  const message = `labels[0] holds ${before_text}, which parts labels; leave it out`;
  assert.throws(() => ZeroShotTagger.labelPrompt([before_text]), { name: "RangeError", message });
  const fault = { name: "RangeError", message: "labels is empty; give at least one" };
  assert.throws(() => ZeroShotTagger.labelPrompt([]), fault);
});

test("texts are a list of valid Unicode", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  await assert.rejects(tagger.tag("a", labels), { name: "TypeError", message });
  const fault = {
    name: "InvalidTextError",
    message: "texts[1] is not valid Unicode; repair or drop it",
    index: 1,
  };
  await assert.rejects(tagger.tag(["a", "\ud800"], labels), fault);
  assert.deepEqual(await tagger.tag([], labels), []);
  assert.deepEqual(await tagger.tag(texts.values(), labels), await tagger.tag(texts, labels));
});

test("labels that leave no room are refused", async () => {
  const long = ["very ".repeat(CONTRACT.max_length)];
  const start = `the labels "${before_label}${long}`.slice(0, 52);
  const message = new RegExp(`^${start}…" have \\d+ tokens; expected less than \\d+, `);
  for (const given of [["a"], []]) {
    await assert.rejects(tagger.tag(given, long), { name: "LongTextError", message });
  }
});

test("close waits for spans on their way", async () => {
  const other = await ZeroShotTagger.open(modelPath);
  const call = other.tag(texts, labels);
  await other.close();
  assert.equal((await call).length, texts.length);
});

test("once closed, it is a ClosedError", async () => {
  const other = await ZeroShotTagger.open(modelPath);
  await other.close();
  const fault = { name: "ClosedError", message: "the tagger is closed; open another" };
  for (const call of [
    () => other.tag(texts, labels),
    () => other.spanScores([["a", "b"]]),
    () => other.tokenize([["a", "b"]]),
    () => other.spanIds([{ ids: [1], typeIds: [0] }]),
    () => other.selfCheck(),
  ]) {
    await assert.rejects(call, fault);
  }
});
