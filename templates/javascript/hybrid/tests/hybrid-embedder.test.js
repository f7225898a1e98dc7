/** What an embedder of three kinds of vectors gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sparseOf } from "../src/hybrid-embedding.js";
import { ClosedError, HybridEmbedder } from "../src/index.js";
import { checkCases } from "../src/self-check.js";
import { base64, bytesOf } from "./base64.js";
import { fixture, manifest, modelPath } from "./model.js";

/** @import { HybridEmbedding } from "../index.d.ts" */

const { contract } = manifest;
const texts = [
  "a short text",
  "",
  "a text of several more words than the others have",
  "two words",
];

/** Of wrong arguments, too. @type {any} */
const embedder = await HybridEmbedder.open(modelPath);
after(() => embedder.close());

/** What the graph gives for a text, as one row. @param {HybridEmbedding} text */
function rowOf({ dense, tokenWeights, multiVector }) {
  return Float32Array.from([...dense, ...tokenWeights, ...multiVector.flatMap((row) => [...row])]);
}

/** Golden cases with a number of one output changed. @param {(one: any) => any} change */
function changed(change) {
  return { ...fixture, cases: [change(structuredClone(fixture.cases[0]))] };
}

const calls = {
  tokenize: (/** @type {any} */ some) => embedder.tokenize(some),
  run: async (/** @type {any} */ rows) => (await embedder.embedIds(rows)).map(rowOf),
  vectors: async (/** @type {any} */ some) => (await embedder.embed(some)).map(rowOf),
};

test("it tells the facts of its model", () => {
  const { name, fingerprint, dimension, tokenDimension, maxLength } = embedder;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  const sizes = [contract.output.dimension, contract.further_outputs[1].dimension];
  assert.deepEqual([dimension, tokenDimension, maxLength], [...sizes, contract.max_length]);
});

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(calls, fixture, "cpu");
  assert.equal(await embedder.selfCheck(), difference);
});

test("the self-check sees each output", async () => {
  const wrong = (/** @type {any} */ golden) => {
    const numbers = new Float32Array(bytesOf(golden.data).buffer);
    numbers[0] += 0.01;
    golden.data = base64(numbers);
  };
  for (const name of [
    null,
    ...contract.further_outputs.map((/** @type {any} */ one) => one.name),
  ]) {
    const cases = changed((one) => {
      wrong(name === null ? one.embeddings : one.further[name]);
      return one;
    });
    await assert.rejects(checkCases(calls, cases, "cpu"), { name: "SelfCheckError" });
  }
});

test("sparse has the largest weight of each id, and none that is 0", () => {
  const found = sparseOf([7, 3, 7, 5, 3], Float32Array.of(0.5, 0.25, 2, 0, 0.125));
  assert.deepEqual(found, { indices: Uint32Array.of(3, 7), values: Float32Array.of(0.25, 2) });
  const none = { indices: new Uint32Array(), values: new Float32Array() };
  assert.deepEqual(sparseOf([], new Float32Array()), none);
  assert.deepEqual(sparseOf([4], new Float32Array(1)), none);
});

test("a text has a weight and a vector for each token but the first", async () => {
  const ids = await embedder.tokenize(texts);
  for (const [index, text] of (await embedder.embed(texts)).entries()) {
    const tokens = ids[index].length - 1;
    assert.equal(text.dense.length, contract.output.dimension);
    assert.deepEqual([text.tokenWeights.length, text.multiVector.length], [tokens, tokens]);
    assert.deepEqual(text.sparse, sparseOf(ids[index].slice(1), text.tokenWeights));
  }
});

test("each call gives one of three", async () => {
  const found = await embedder.embed(texts);
  for (const name of /** @type {const} */ (["dense", "sparse", "multiVector"])) {
    const expected = found.map((/** @type {HybridEmbedding} */ text) => text[name]);
    assert.deepEqual(await embedder[name](texts), expected);
    assert.deepEqual(await embedder[name](texts.values()), expected);
  }
});

test("texts keep their order in windows and batches", async () => {
  const many = Array.from({ length: 150 }, (_, index) => texts[index % texts.length]);
  const found = await embedder.embed(many);
  const few = await embedder.embed(texts);
  for (const [index, { dense, multiVector }] of found.entries()) {
    const expected = few[index % texts.length];
    assert.equal(multiVector.length, expected.multiVector.length);
    for (const [place, element] of dense.entries()) {
      assert.ok(Math.abs(element - expected.dense[place]) <= 1e-5);
    }
  }
});

test("nothing gives nothing, and a row without ids has no tokens", async () => {
  for (const method of ["embed", "dense", "sparse", "multiVector", "tokenize", "embedIds"]) {
    assert.deepEqual(await embedder[method]([]), []);
  }
  const [{ multiVector, tokenWeights, sparse }] = await embedder.embedIds([[]]);
  assert.deepEqual([multiVector.length, tokenWeights.length, sparse.indices.length], [0, 0, 0]);
});

test("arguments are judged as any embedder judges them", async () => {
  const message = "expected a list of texts, got a string; put it into a list";
  for (const method of ["embed", "dense", "sparse", "multiVector", "tokenize"]) {
    await assert.rejects(embedder[method]("a"), { name: "TypeError", message });
    const fault = { name: "InvalidTextError", index: 1 };
    await assert.rejects(embedder[method](["a", "\ud800"]), fault);
  }
  await assert.rejects(embedder.embedIds([[-1]]), { name: "InvalidIdsError", row: 0 });
});

test("once closed, it is a ClosedError", async () => {
  const other = await HybridEmbedder.open(modelPath);
  await other.close();
  for (const call of [() => other.embed(texts), () => other.embedIds([[1]])]) {
    await assert.rejects(call, ClosedError);
  }
});
