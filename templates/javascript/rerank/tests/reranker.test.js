/** What a reranker gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Reranker } from "../src/index.js";
import { manifest, modelPath } from "./model.js";
import { threadOf } from "./thread-of.js";

const query = "a b";
const documents = ["a", "", "b c", "d"];

/** Of wrong arguments, too. @type {any} */
const reranker = await Reranker.open(modelPath);
after(() => reranker.close());

/**
 * A reranker whose model gives these scores, one to each document.
 *
 * @param {number[]} scores
 */
function scoring(scores) {
  let scored = 0;
  const ask = async (/** @type {string} */ _, /** @type {unknown[]} */ window) =>
    window.map(() => Float32Array.of(scores[scored++ % scores.length]));
  return new Reranker(threadOf(ask));
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, provider } = reranker;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([maxLength, provider], [manifest.contract.max_length, "CPUExecutionProvider"]);
});

test("each document has the score of its pair with the query", async () => {
  const pairs = documents.map((document) => [query, document]);
  const rows = await reranker.scorePairs(pairs);
  const scores = await reranker.score(query, documents);
  assert.deepEqual(
    scores,
    rows.map((/** @type {Float32Array} */ [score]) => score),
  );
});

test("documents are ordered by their scores, best first", async () => {
  const scores = await reranker.score(query, documents);
  const found = await reranker.rerank(query, documents);
  const ranks = scores.map((/** @type {number} */ score, /** @type {number} */ index) => ({
    index,
    score,
  }));
  ranks.sort((/** @type {any} */ a, /** @type {any} */ b) => b.score - a.score);
  assert.deepEqual(found, ranks);
});

test("equal scores have the order of the documents", async () => {
  const found = await scoring([0.5, 0.25, 0.75, 0.5]).rerank(query, documents);
  assert.deepEqual(found, [
    { index: 2, score: 0.75 },
    { index: 0, score: 0.5 },
    { index: 3, score: 0.5 },
    { index: 1, score: 0.25 },
  ]);
});

test("top is how many documents are given", async () => {
  const all = await reranker.rerank(query, documents);
  for (const top of [1, 2, documents.length, documents.length + 1, undefined, null]) {
    const expected = all.slice(0, top ?? all.length);
    assert.deepEqual(await reranker.rerank(query, documents, { top }), expected);
  }
});

test("top is a whole number, 1 or more", async () => {
  for (const [top, name, message] of /** @type {[unknown, string, string][]} */ ([
    [0, "RangeError", "top is 0; expected 1 or more"],
    [1.5, "TypeError", "top is 1.5; expected a whole number"],
    ["3", "TypeError", "top is string; expected a whole number"],
  ])) {
    await assert.rejects(reranker.rerank(query, documents, { top }), { name, message });
  }
});

test("options are an object of known keys", async () => {
  const message = 'unknown option "most"; choose one of: top';
  const call = reranker.rerank(query, documents, { most: 1 });
  await assert.rejects(call, { name: "TypeError", message });
});

test("a query is a string of valid Unicode", async () => {
  for (const [given, fault] of /** @type {[unknown, object][]} */ ([
    [5, { name: "TypeError", message: "query is number; expected a string" }],
    [["a"], { name: "TypeError", message: "query is Array; expected a string" }],
    [
      "\ud800",
      { name: "InvalidTextError", message: "query is not valid Unicode; repair or drop it" },
    ],
  ])) {
    await assert.rejects(reranker.rerank(given, documents), fault);
    await assert.rejects(reranker.score(given, []), fault);
  }
});

test("documents are a list of valid Unicode", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  await assert.rejects(reranker.rerank(query, "a"), { name: "TypeError", message });
  await assert.rejects(reranker.score(query, "a"), { name: "TypeError", message });
  for (const [bad, fault] of /** @type {[unknown, object][]} */ ([
    [5, { name: "TypeError", message: "documents[3] is number; expected a string" }],
    [
      "\ud800",
      {
        name: "InvalidTextError",
        message: "documents[3] is not valid Unicode; repair or drop it",
        index: 3,
      },
    ],
  ])) {
    const given = ["a", "b", "c", bad];
    await assert.rejects(reranker.rerank(query, given), fault);
    await assert.rejects(reranker.score(query, given), fault);
  }
});

test("no documents have no ranks", async () => {
  assert.deepEqual(await reranker.rerank(query, []), []);
  assert.deepEqual(await reranker.score(query, []), []);
});

test("once closed, it is a ClosedError", async () => {
  const other = await Reranker.open(modelPath);
  await other.close();
  const fault = { name: "ClosedError", message: "the reranker is closed; open another" };
  for (const call of [
    () => other.rerank(query, documents),
    () => other.score(query, documents),
    () => other.scorePairs([["a", "b"]]),
    () => other.tokenize([["a", "b"]]),
    () => other.scoreIds([{ ids: [1], typeIds: [0] }]),
    () => other.selfCheck(),
  ]) {
    await assert.rejects(call, fault);
  }
});
