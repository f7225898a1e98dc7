/** What a tagger gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inCharacters } from "../harness/in-characters.js";
import { CONTRACT } from "../src/contract.js";
import { Tagger } from "../src/index.js";
import { Thread } from "../src/model.js";
import { checkCases } from "../src/self-check.js";
import { fixture, manifest, modelPath, writeFile } from "./model.js";
import { threadOf } from "./thread-of.js";

/** @import { Span } from "../index.d.ts" */

const { labels, marks } = CONTRACT.settings;
const texts = ["Ada Lovelace, of London.", "", "b c", " \t\n", "The \u{1f600} e\u0301 \u{1d4b3}"];

/** Of wrong arguments, too. @type {any} */
const tagger = await Tagger.open(modelPath);
after(() => tagger.close());

/**
 * The words of each text: what a tagger gives for which the first label is best, and is that of a
 * word by itself.
 *
 * @param {string[]} texts
 */
async function wordsOf(texts) {
  const thread = await Thread.open(modelPath, {});
  const ask = async (/** @type {string} */ method, /** @type {any[]} */ ...args) => {
    const found = await thread.ask(method, ...args);
    if (method !== "vectors") return found;
    return found.map((/** @type {Float32Array} */ row) => {
      return row.map((_, place) => +(place % labels.length === 0));
    });
  };
  try {
    return await wordsBy(texts, ask);
  } finally {
    await thread.close();
  }
}

/**
 * The same by a model for which the first label is best.
 *
 * @param {string[]} texts
 * @param {Parameters<typeof threadOf>[0]} ask
 */
async function wordsBy(texts, ask) {
  const all = new Tagger(threadOf(ask));
  const [first] = marks;
  marks[0] = { name: "word", begins: true, ends: true };
  try {
    return await all.tag(texts);
  } finally {
    marks[0] = first;
  }
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, provider } = tagger;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([maxLength, provider], [manifest.contract.max_length, "CPUExecutionProvider"]);
});

test("its labels are the model's, and nobody changes them", () => {
  assert.deepEqual(tagger.labels, manifest.contract.settings.labels);
  assert.throws(() => tagger.labels.push("more"), TypeError);
});

test("a file of another task is refused", async () => {
  const path = await writeFile({ contract: { ...manifest.contract, task: "embed" } });
  await assert.rejects(Tagger.open(path), { name: "ModelError" });
});

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(
    {
      tokenize: (texts) => tagger.tokenize(texts),
      run: async (rows) => (await tagger.scoreIds(rows)).flat(),
      vectors: async (texts) => (await tagger.scores(texts)).flat(),
    },
    fixture,
    "cpu",
  );
  assert.equal(await tagger.selfCheck(), difference);
});

test("each text has the spans that the golden cases say", async () => {
  for (const { call, answer } of /** @type {any[]} */ (fixture.cases)) {
    for (const [way, aggregation] of call.aggregations.entries()) {
      const found = await tagger.tag(call.texts, { aggregation });
      for (const [place, text] of call.texts.entries()) {
        const spans = inCharacters(/** @type {Span[]} */ (found[place]), text);
        const expected = answer[way][place];
        assert.deepEqual(spans.map(placed), expected.map(placed));
        for (const [index, { score }] of spans.entries()) {
          assert.ok(Math.abs(score - expected[index].score) < 1e-4);
        }
      }
    }
  }
});

/** @param {Span} span */
function placed({ label, text, start, end }) {
  return { label, text, start, end };
}

test("a word's label is the best of its first token, unless it is said otherwise", async () => {
  const first = await tagger.tag(texts);
  assert.deepEqual(await tagger.tag(texts, { aggregation: "first" }), first);
  assert.deepEqual(await tagger.tag(texts, { aggregation: null }), first);
});

test("a span's text is the slice of its text", async () => {
  const found = await wordsOf(texts);
  for (const [place, spans] of found.entries()) {
    for (const { text, start, end } of spans) assert.equal(text, texts[place].slice(start, end));
    const whole = spans.map(({ text }) => text).join("");
    assert.equal(whole, texts[place].replaceAll(/\s/g, ""));
  }
});

test("no word of a long text is lost, or there twice", async () => {
  const count = Math.min(3 * CONTRACT.settings.room, 3000);
  const words = Array.from({ length: count }, (_, index) => `a${index % 10} \u{1f600}`);
  const [long] = await wordsOf([words.join(" ")]);
  const short = (await wordsOf(words)).flat();
  assert.ok(short.length >= 2 * count);
  const textOf = (/** @type {Span} */ { text }) => text;
  assert.deepEqual(long.map(textOf), short.map(textOf));
  const starts = long.map(({ start }) => start);
  assert.deepEqual(
    starts,
    starts.toSorted((a, b) => a - b),
  );
});

test("what has no white space for more tokens than a row has words to its very end", async () => {
  const long = "a\u{1f600},".repeat(Math.min(CONTRACT.settings.room, 1000));
  const text = `b ${long} c`;
  const [found] = await wordsOf([text]);
  let end = 0;
  for (const word of found) {
    assert.ok(word.start >= end);
    assert.equal(text.slice(end, word.start).trim(), "");
    end = word.end;
  }
  assert.equal(end, text.length);
});

test("a word is of the piece in which it begins, and one that is longer than that of each", async () => {
  const word = (/** @type {number} */ start, /** @type {number} */ end, first = 0) => {
    return { start, end, first, last: first + 1 };
  };
  const pieces = [
    { start: 0, end: 5, tokens: 3, words: [word(0, 1), word(1, 3, 1), word(3, 5, 2)], inner: 0 },
    { start: 3, end: 7, tokens: 2, words: [word(3, 5), word(5, 7, 1)], inner: 4 },
    { start: 5, end: 8, tokens: 1, words: [word(5, 8)], inner: 6 },
  ];
  const rows = pieces.map(({ tokens }, place) => {
    return new Float32Array(tokens * labels.length).fill(2 ** -place);
  });
  const [spans] = await wordsBy(["abcdefgh"], async (method) =>
    method === "chunks" ? [pieces] : rows,
  );
  assert.deepEqual(
    spans.map(({ text, score }) => [text, score]),
    [
      ["a", 1],
      ["bc", 1],
      ["de", 1],
      ["fg", 0.5],
      ["h", 0.25],
    ],
  );
});

test("a text has the spans that it has alone", async () => {
  const found = await tagger.tag(texts);
  assert.equal(found.length, texts.length);
  for (const [place, text] of texts.entries()) {
    const [alone] = await tagger.tag([text]);
    assert.deepEqual(alone.map(placed), found[place].map(placed));
  }
});

test("a blank text has no spans", async () => {
  const blank = ["", " ", "\t\r\n", "\u3000\u00a0"];
  assert.deepEqual(await tagger.tag(blank), [[], [], [], []]);
});

test("nothing gives nothing", async () => {
  for (const method of ["tag", "scores", "tokenize", "scoreIds"]) {
    assert.deepEqual(await tagger[method]([]), []);
  }
});

test("each token that is no special one has its scores", async () => {
  const [first, last] = CONTRACT.settings.special;
  const ids = await tagger.tokenize(texts);
  const scores = await tagger.scores(texts);
  for (const [place, rows] of scores.entries()) {
    assert.equal(rows.length, ids[place].length - first - last);
    for (const row of rows) {
      assert.ok(row instanceof Float32Array);
      assert.equal(row.length, labels.length);
    }
  }
});

test("an aggregation is one of three", async () => {
  for (const [aggregation, name, message] of /** @type {[unknown, string, string][]} */ ([
    ["last", "RangeError", 'unknown aggregation "last"; choose one of: first, mean, max'],
    ["toString", "RangeError", 'unknown aggregation "toString"; choose one of: first, mean, max'],
    [1, "TypeError", "aggregation is number; expected a string"],
    [["max"], "TypeError", "aggregation is Array; expected a string"],
  ])) {
    await assert.rejects(tagger.tag(texts, { aggregation }), { name, message });
  }
});

test("options are an object of known keys", async () => {
  const message = 'unknown option "top"; choose one of: aggregation';
  await assert.rejects(tagger.tag(texts, { top: 1 }), { name: "TypeError", message });
});

test("texts are judged as those of other tasks", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  await assert.rejects(tagger.tag("a"), { name: "TypeError", message });
  for (const [bad, fault] of /** @type {[unknown, object][]} */ ([
    [5, { name: "TypeError", message: "texts[1] is number; expected a string" }],
    ["\ud800", { name: "InvalidTextError", index: 1 }],
  ])) {
    await assert.rejects(tagger.tag(["a", bad]), fault);
  }
  await assert.rejects(tagger.scoreIds([[-1]]), { name: "InvalidIdsError", row: 0 });
});

test("more than a window of texts has the spans of each", async () => {
  const [one, , other] = await tagger.tag(texts);
  const many = Array.from({ length: 9000 }, (_, index) => texts[index % 2 === 0 ? 0 : 2]);
  const found = await tagger.tag(many);
  assert.equal(found.length, many.length);
  for (const [place, spans] of found.entries()) {
    assert.deepEqual(spans.map(placed), (place % 2 === 0 ? one : other).map(placed));
  }
});

test("once closed, it is a ClosedError", async () => {
  const other = await Tagger.open(modelPath);
  await other.close();
  const fault = { name: "ClosedError", message: "the tagger is closed; open another" };
  for (const call of [
    () => other.tag(texts),
    () => other.scores(texts),
    () => other.tokenize(texts),
    () => other.scoreIds([[1]]),
    () => other.selfCheck(),
  ]) {
    await assert.rejects(call, fault);
  }
});
