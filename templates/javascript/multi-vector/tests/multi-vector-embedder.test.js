/** What a multi-vector embedder gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ClosedError, MultiVectorEmbedder } from "../src/index.js";
import { checkCases } from "../src/self-check.js";
import { fixture, manifest, modelPath, modelUrl } from "./model.js";

/** @import { MultiVector } from "../index.d.ts" */

const { contract } = manifest;
const { dimension } = contract.output;
const texts = ["a", "", "b c", "a b c d e f"];

/** Of wrong arguments, too. @type {any} */
const embedder = await MultiVectorEmbedder.open(modelPath);
after(() => embedder.close());

/**
 * That vectors are as many, and the same but for rounding.
 *
 * @param {MultiVector} found
 * @param {MultiVector} expected
 */
function assertClose(found, expected) {
  assert.equal(found.length, expected.length);
  for (const [row, vector] of found.entries()) {
    for (const [index, element] of vector.entries()) {
      assert.ok(Math.abs(element - expected[row][index]) < 1e-4);
    }
  }
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, prompts } = embedder;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([embedder.dimension, maxLength], [dimension, contract.max_length]);
  assert.deepEqual({ ...prompts }, contract.prompts);
});

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(
    {
      tokenize: (some, prompt) => embedder.tokenize(some, { prompt }),
      run: async (rows, prompt) => (await embedder.embedIds(rows, { prompt })).flat(),
      vectors: async (some, prompt) => (await embedder.embed(some, { prompt })).flat(),
    },
    fixture,
    "cpu",
  );
  assert.equal(await embedder.selfCheck(), difference);
});

test("each text has the vectors, and the relevance, that the golden cases say", async () => {
  for (const { prompt, texts, answer } of /** @type {any[]} */ (fixture.cases)) {
    const found = await embedder.embed(texts, { prompt });
    assert.deepEqual(
      found.map((/** @type {MultiVector} */ { length }) => length),
      answer.map((/** @type {any} */ { rows }) => rows),
    );
    for (const [index, { max_sim }] of answer.entries()) {
      const relevance = MultiVectorEmbedder.maxSim(found[0], found[index]);
      assert.ok(Math.abs(relevance - max_sim) < 1e-3 * Math.max(1, Math.abs(max_sim)));
    }
  }
});

test("a text has the vectors that it has alone", async () => {
  const together = await embedder.embed(texts);
  assert.equal(together.length, texts.length);
  for (const [place, text] of texts.entries()) {
    const [alone] = await embedder.embed([text]);
    assertClose(together[place], alone);
    for (const vector of alone) {
      assert.ok(vector instanceof Float32Array);
      assert.equal(vector.length, dimension);
    }
  }
});

test("ids give the vectors of their texts", async () => {
  const ids = [...(await embedder.tokenize(texts)), []];
  const byIds = await embedder.embedIds(ids);
  assert.equal(byIds.length, ids.length);
  assert.deepEqual(byIds.at(-1), []);
  for (const [place, vectors] of byIds.slice(0, -1).entries()) {
    assertClose(vectors, (await embedder.embed([texts[place]]))[0]);
  }
});

test("each method uses its own prompt", async () => {
  /** @type {unknown[]} */
  const used = [];
  const note = async (/** @type {unknown} */ _, /** @type {unknown} */ prompt) => {
    used.push(prompt);
    return [];
  };
  const thread = /** @type {any} */ ({ facts: {}, vectors: note, run: note, tokenize: note });
  const noting = new MultiVectorEmbedder(thread);
  const prompts = Object.keys(contract.prompts);
  const { default_prompt } = contract;
  const first = (/** @type {string[]} */ ...names) =>
    names.find((name) => prompts.includes(name)) ?? null;
  const query = first("query");
  for (const [call, prompt] of /** @type {[() => Promise<unknown>, string | null][]} */ ([
    [() => noting.embed(["a"]), default_prompt],
    [() => noting.embedIds([[1]]), default_prompt],
    [() => noting.tokenize(["a"]), default_prompt],
    [() => noting.embedQuery("a"), query],
    [() => noting.embedQueries(["a"]), query],
    [() => noting.embedDocuments(["a"]), first("document", "passage", "corpus")],
    ...prompts.map((name) => [() => noting.embed(["a"], { prompt: name }), name]),
  ])) {
    await call();
    assert.deepEqual(new Set(used.splice(0)), new Set([prompt]));
  }
});

test("texts and prompts are judged as any embedder judges them", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  await assert.rejects(embedder.embed("a"), { name: "TypeError", message });
  await assert.rejects(embedder.embedQuery(1), { message: "text is number; expected a string" });
  await assert.rejects(embedder.embed(["a"], { prompt: "x" }), { name: "UnknownPromptError" });
  await assert.rejects(embedder.embedIds([[-1]]), { name: "InvalidIdsError", row: 0 });
});

test("nothing gives nothing", async () => {
  for (const method of ["embed", "embedQueries", "embedDocuments", "tokenize", "embedIds"]) {
    assert.deepEqual(await embedder[method]([]), []);
  }
});

test("once closed, it is a ClosedError", async () => {
  const other = await MultiVectorEmbedder.open(modelUrl);
  await other.close();
  for (const call of [
    () => other.embed(texts),
    () => other.embedQuery("a"),
    () => other.embedIds([[1]]),
  ]) {
    await assert.rejects(call, ClosedError);
  }
});
