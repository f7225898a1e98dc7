/** What an answerer gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inCharacters } from "../harness/in-characters.js";
import { CONTRACT } from "../src/contract.js";
import { Answerer } from "../src/index.js";
import { fixture, manifest, modelPath, writeFile } from "./model.js";

/** @import { Answer } from "../index.d.ts" */

const question = "Who sees it?";
const context = "The crew \u{1f600} of the e\u0301 and \u{1d4b3}y saw it.";
const all = { top: 10_000 };
const none = { text: "", start: 0, end: 0 };
const { room } = CONTRACT.settings;

/** Of wrong arguments, too. @type {any} */
const answerer = await Answerer.open(modelPath);
after(() => answerer.close());

/** @param {Answer} answer */
function placed({ text, start, end }) {
  return { text, start, end };
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, provider } = answerer;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([maxLength, provider], [manifest.contract.max_length, "CPUExecutionProvider"]);
});

test("a file of another task is refused", async () => {
  const path = await writeFile({ contract: { ...manifest.contract, task: "embed" } });
  await assert.rejects(Answerer.open(path), { name: "ModelError" });
});

test("each context has the answers that the golden cases say", async () => {
  const cases = /** @type {any[]} */ (fixture.cases).filter(({ call }) => call);
  assert.ok(cases.length > 0);
  for (const { call, answer } of cases) {
    const options = { top: call.top, noAnswer: call.no_answer };
    for (const [place, text] of call.contexts.entries()) {
      const found = await answerer.answer(call.question, text, options);
      const answers = inCharacters(/** @type {Answer[]} */ (found), text);
      assert.deepEqual(answers.map(placed), answer[place].map(placed));
      for (const [index, { score }] of answers.entries()) {
        assert.ok(Math.abs(score - answer[place][index].score) < 1e-4);
      }
    }
  }
});

test("answers are slices of the context, best first, each place once", async () => {
  const found = await answerer.answer(question, context, all);
  assert.ok(found.length > 5);
  for (const { text, start, end } of found) {
    assert.equal(text, context.slice(start, end));
    assert.ok(text.isWellFormed() && text !== "" && text === text.trim());
  }
  const scores = found.map((/** @type {Answer} */ { score }) => score);
  assert.deepEqual(
    scores,
    scores.toSorted((/** @type {number} */ a, /** @type {number} */ b) => b - a),
  );
  const places = found.map((/** @type {Answer} */ { start, end }) => `${start} ${end}`);
  assert.equal(new Set(places).size, places.length);
});

test("top is how many answers are given, one where it is not said", async () => {
  const found = await answerer.answer(question, context, all);
  for (const top of [1, 2, 5, undefined, null]) {
    const expected = found.slice(0, top ?? 1);
    assert.deepEqual(await answerer.answer(question, context, { top }), expected);
  }
  assert.deepEqual(await answerer.answer(question, context), found.slice(0, 1));
});

test("that there is no answer is one of them, where it is asked for", async () => {
  const [[[score]]] = await answerer.spans([[question, "a b"]]);
  const found = await answerer.answer(question, "a b", { ...all, noAnswer: true });
  const [said, ...others] = found.filter((/** @type {Answer} */ { text }) => text === "");
  assert.deepEqual(placed(said), none);
  assert.ok(Math.abs(said.score - score) < 1e-4);
  assert.equal(others.length, 0);
  const without = await answerer.answer(question, "a b", all);
  assert.deepEqual(
    found.filter((/** @type {Answer} */ { text }) => text !== ""),
    without,
  );
  for (const noAnswer of [false, null, undefined]) {
    assert.deepEqual(await answerer.answer(question, "a b", { ...all, noAnswer }), without);
  }
});

test("a word has the score of the likeliest tokens that begin and end in it", async () => {
  const [[, ...rows]] = await answerer.spans([[question, "a"]]);
  const [only, ...others] = await answerer.answer(question, "a", all);
  assert.deepEqual(placed(only), { text: "a", start: 0, end: 1 });
  const scores = rows.flatMap((/** @type {Float32Array} */ row) => [...row]);
  assert.ok(Math.abs(only.score - Math.max(...scores)) < 1e-4);
  assert.equal(others.length, 0);
});

test("every word of a long context may be the answer", async () => {
  const words = Array.from({ length: Math.min(3 * room, 2000) }, (_, index) => `a${index % 10}`);
  const long = `${words.join(" \u{1f600} ")}\n`;
  const found = await answerer.answer(question, long, { top: 10_000_000 });
  const starts = new Set(found.map((/** @type {Answer} */ { start }) => start));
  for (const { index } of long.matchAll(/[^ \n]+/g)) assert.ok(starts.has(index));
});

test("what has no white space for more tokens than a row may be the answer to its very end", async () => {
  const long = "a\u{1f600},".repeat(Math.min(room, 1000));
  /** @type {Answer[]} */
  const found = await answerer.answer(question, long, { top: 10_000_000 });
  let end = 0;
  for (const one of found.toSorted((a, b) => a.start - b.start)) {
    assert.ok(one.start <= end);
    end = Math.max(end, one.end);
  }
  assert.equal(end, long.length);
});

test("a question that leaves no room is refused", { skip: room > 100_000 }, async () => {
  const long = "\u{1f600} ".repeat(room);
  const message = new RegExp(
    `^the question "(\u{1f600} ){20}…" has \\d+ tokens; ` +
      `expected less than ${room}, which the context shares; shorten it$`,
    "u",
  );
  await assert.rejects(answerer.answer(long, "a"), { name: "LongTextError", message });
});

test("a context has words", async () => {
  const message = "the context has no words; give a text that may hold the answer";
  for (const blank of ["", " ", "\t\r\n", "\u3000"]) {
    await assert.rejects(answerer.answer(question, blank), { name: "RangeError", message });
  }
  assert.equal((await answerer.answer("", "a")).length, 1);
});

test("question and context are strings of valid Unicode", async () => {
  for (const [given, name, fault] of /** @type {[unknown, string, string][]} */ ([
    [5, "TypeError", "is number; expected a string"],
    [["a"], "TypeError", "is Array; expected a string"],
    [undefined, "TypeError", "is undefined; expected a string"],
    ["\ud800", "InvalidTextError", "is not valid Unicode; repair or drop it"],
  ])) {
    await assert.rejects(answerer.answer(given, "a"), { name, message: `question ${fault}` });
    await assert.rejects(answerer.answer("a", given), { name, message: `context ${fault}` });
  }
});

test("options are an object of known keys, and of their kinds", async () => {
  for (const [options, name, message] of /** @type {[unknown, string, string][]} */ ([
    [3, "TypeError", "expected options such as { top: 3 }, got number"],
    [{ most: 1 }, "TypeError", 'unknown option "most"; choose one of: top, noAnswer'],
    [{ top: 0 }, "RangeError", "top is 0; expected 1 or more"],
    [{ top: 1.5 }, "TypeError", "top is 1.5; expected a whole number"],
    [{ noAnswer: 1 }, "TypeError", "noAnswer is number; expected true or false"],
    [{ noAnswer: "yes" }, "TypeError", "noAnswer is string; expected true or false"],
  ])) {
    await assert.rejects(answerer.answer(question, context, options), { name, message });
  }
});

test("spans are those of the pairs' methods", async () => {
  /** @type {[string, string][]} */
  const pairs = [
    ["a", "b c"],
    ["d", ""],
  ];
  assert.deepEqual(await answerer.spans(pairs), await answerer.scorePairs(pairs));
  const tokens = await answerer.tokenize(pairs);
  assert.deepEqual(await answerer.spanIds(tokens), await answerer.scoreIds(tokens));
});

test("close waits for an answer on its way", async () => {
  const other = await Answerer.open(modelPath);
  const call = other.answer(question, context);
  await other.close();
  assert.equal((await call).length, 1);
});

test("once closed, it is a ClosedError", async () => {
  const other = await Answerer.open(modelPath);
  await other.close();
  const fault = { name: "ClosedError", message: "the answerer is closed; open another" };
  for (const call of [
    () => other.answer(question, context),
    () => other.spans([["a", "b"]]),
    () => other.tokenize([["a", "b"]]),
    () => other.spanIds([{ ids: [1], typeIds: [0] }]),
    () => other.selfCheck(),
  ]) {
    await assert.rejects(call, fault);
  }
});
