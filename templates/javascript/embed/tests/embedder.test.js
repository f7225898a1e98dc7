/** What an embedder gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { Embedder } from "../src/embedder.js";
import { checkCases } from "../src/self-check.js";
import { fixture, manifest, modelPath } from "./model.js";

const embedder = await Embedder.open(modelPath);
after(() => embedder.close());

test("it tells the facts of its model", () => {
  const { output, max_length, prompts } = manifest.contract;
  const { name, fingerprint, dimension, maxLength, provider } = embedder;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([dimension, maxLength], [output.dimension, max_length]);
  assert.deepEqual({ ...embedder.prompts }, prompts);
  assert.equal(provider, "CPUExecutionProvider");
  assert.ok(Object.isFrozen(embedder.prompts));
});

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(
    {
      tokenize: (texts, prompt) => embedder.tokenize(texts, { prompt }),
      run: (rows, prompt) => embedder.embedIds(rows, { prompt }),
      vectors: (texts, prompt) => embedder.embed(texts, { prompt }),
    },
    fixture,
    "cpu",
  );
  assert.equal(await embedder.selfCheck(), difference);
});

test("whatever gives texts one after another will do", async () => {
  const expected = await embedder.embed(["a", ""]);
  function* texts() {
    yield* ["a", ""];
  }
  assert.deepEqual(await embedder.embed(texts()), expected);
});

test("typed arrays hold ids, too", async () => {
  const [ids] = await embedder.tokenize(["a"]);
  const expected = await embedder.embedIds([ids, ids]);
  const rows = [Int32Array.from(ids), BigInt64Array.from(ids, BigInt)];
  assert.deepEqual(await embedder.embedIds(rows), expected);
});

test("nothing gives nothing", async () => {
  for (const method of /** @type {const} */ (["embed", "embedDocuments", "tokenize", "embedIds"])) {
    assert.deepEqual(await embedder[method]([]), []);
  }
});

test("a row without ids is all padding", async () => {
  const [vector] = await embedder.embedIds([[]]);
  assert.equal(vector.length, embedder.dimension);
});

test("each method uses its own prompt", async () => {
  /** @type {unknown[]} */
  const used = [];
  const note = async (/** @type {unknown} */ _, /** @type {unknown} */ prompt) => {
    used.push(prompt);
    return [];
  };
  const thread = /** @type {any} */ ({ facts: {}, vectors: note, run: note, tokenize: note });
  const noting = new Embedder(thread);
  const promptOf = async (/** @type {Promise<unknown>} */ call) => {
    await call;
    return used.pop();
  };
  const { prompts, default_prompt } = manifest.contract;
  assert.equal(await promptOf(noting.embed(["a"])), default_prompt);
  assert.equal(await promptOf(noting.embedIds([[1]], { prompt: null })), default_prompt);
  assert.equal(await promptOf(noting.tokenize(["a"], { prompt: undefined })), default_prompt);
  const first = (/** @type {string[]} */ ...names) => names.find((name) => name in prompts) ?? null;
  const query = first("query");
  assert.equal(await promptOf(noting.embedQuery("a")), query);
  assert.equal(await promptOf(noting.embedQueries(["a"])), query);
  const document = first("document", "passage", "corpus");
  assert.equal(await promptOf(noting.embedDocuments(["a"])), document);
  for (const prompt of Object.keys(CONTRACT.prompts)) {
    assert.equal(await promptOf(noting.embed(["a"], { prompt })), prompt);
  }
});

test("no vector shares its memory", async () => {
  for (const vector of await embedder.embed(["a", "b"])) {
    assert.equal(vector.buffer.byteLength, vector.byteLength);
  }
});
