/** What a sparse embedder gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ClosedError, SparseEmbedder } from "../src/index.js";
import { checkCases } from "../src/self-check.js";
import { fixture, manifest, modelPath, modelUrl, tokenizer } from "./model.js";

/** @import { SparseVector } from "../index.d.ts" */

const { dimension } = manifest.contract.output;
const texts = ["a", "", "b c"];
const names = new Map(Object.entries(tokenizer.model.vocab).map(([token, id]) => [id, token]));

/** Of wrong arguments, too. @type {any} */
const embedder = await SparseEmbedder.open(modelPath);
after(() => embedder.close());

/**
 * All elements of vectors.
 *
 * @param {SparseVector[]} vectors
 */
function filled(vectors) {
  return vectors.map(({ indices, values }) => {
    const elements = new Float32Array(dimension);
    for (const [place, index] of indices.entries()) elements[index] = values[place];
    return elements;
  });
}

/**
 * The tokens of a vector, as a stable sort has them.
 *
 * @param {SparseVector} vector
 */
function ranked({ indices, values }) {
  const named = Array.from(indices, (id, place) => {
    return { token: names.get(id) ?? "", weight: values[place] };
  });
  return named.sort((a, b) => b.weight - a.weight);
}

test("it tells the facts of its model", () => {
  const { name, fingerprint, maxLength, prompts } = embedder;
  assert.deepEqual([name, fingerprint], [manifest.name, manifest.fingerprint]);
  assert.deepEqual([embedder.dimension, maxLength], [dimension, manifest.contract.max_length]);
  assert.deepEqual({ ...prompts }, manifest.contract.prompts);
});

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(
    {
      tokenize: (some, prompt) => embedder.tokenize(some, { prompt }),
      run: async (rows, prompt) => filled(await embedder.embedIds(rows, { prompt })),
      vectors: async (some, prompt) => filled(await embedder.embed(some, { prompt })),
    },
    fixture,
    "cpu",
  );
  assert.equal(await embedder.selfCheck(), difference);
});

test("a vector has the elements that are not 0, by ascending indices", async () => {
  for (const { indices, values } of await embedder.embed(texts)) {
    assert.ok(indices instanceof Uint32Array && values instanceof Float32Array);
    assert.ok(indices.length > 0 && indices.length < dimension);
    assert.equal(indices.length, values.length);
    assert.ok(values.every((value) => value > 0));
    assert.deepEqual(
      [...indices],
      [...new Set(indices)].sort((a, b) => a - b),
    );
  }
});

test("every call gives the same vectors", async () => {
  const vectors = await embedder.embed(texts);
  assert.deepEqual(await embedder.embed(texts.values()), vectors);
  const ids = await embedder.tokenize(["a"]);
  assert.deepEqual(await embedder.embedIds(ids), await embedder.embed(["a"]));
});

test("each method uses its own prompt", async () => {
  /** @type {unknown[]} */
  const used = [];
  const note = async (/** @type {unknown} */ _, /** @type {unknown} */ prompt) => {
    used.push(prompt);
    return [];
  };
  const thread = /** @type {any} */ ({ facts: {}, vectors: note, run: note, tokenize: note });
  const noting = new SparseEmbedder(thread);
  const prompts = Object.keys(manifest.contract.prompts);
  const { default_prompt } = manifest.contract;
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

test("the tokens of a vector are named, the heaviest first", async () => {
  for (const vector of await embedder.embed(texts)) {
    assert.deepEqual(await embedder.tokens(vector), ranked(vector));
  }
});

test("tokens of one weight have the order of their ids", async () => {
  const indices = Uint32Array.from([0, 1, 2, 3, 4]);
  const names = async (/** @type {number[]} */ ...weights) => {
    const tokens = await embedder.tokens({ indices, values: Float32Array.from(weights) });
    return tokens.map((/** @type {any} */ { token }) => token);
  };
  const [a, b, c, d, e] = await names(5, 4, 3, 2, 1);
  assert.deepEqual(await names(1, 1, 1, 1, 1), [a, b, c, d, e]);
  assert.deepEqual(await names(1, 2, 1, 2, 1), [b, d, a, c, e]);
  const turned = { indices: indices.toReversed(), values: new Float32Array(5).fill(1) };
  const [first] = await embedder.tokens(turned);
  assert.deepEqual(first, { token: a, weight: 1 });
});

test("every element is named; one that has no token by nothing", async () => {
  const every = Uint32Array.from({ length: dimension }, (_, index) => index);
  const vector = { indices: every, values: new Float32Array(dimension).fill(1) };
  assert.deepEqual(await embedder.tokens(vector), ranked(vector));
});

test("top is how many tokens are given", async () => {
  const [vector] = await embedder.embed(["a"]);
  const all = await embedder.tokens(vector);
  for (const top of [1, 2, all.length, all.length + 1, undefined, null]) {
    assert.deepEqual(await embedder.tokens(vector, { top }), all.slice(0, top ?? all.length));
  }
});

test("top is a whole number, 1 or more, and the only option", async () => {
  const [vector] = await embedder.embed(["a"]);
  for (const [options, name, message] of /** @type {[unknown, string, string][]} */ ([
    [{ top: 0 }, "RangeError", "top is 0; expected 1 or more"],
    [{ top: 1.5 }, "TypeError", "top is 1.5; expected a whole number"],
    [{ most: 1 }, "TypeError", 'unknown option "most"; choose one of: top'],
    [3, "TypeError", "expected options such as { top: 3 }, got number"],
  ])) {
    await assert.rejects(embedder.tokens(vector, options), { name, message });
  }
});

test("what is no sparse vector has no tokens", async () => {
  const indices = Uint32Array.of(0, dimension);
  const values = Float32Array.of(1, 2);
  const beyond = `vector.indices[1] is ${dimension}; expected at most ${dimension - 1}`;
  const unequal = "vector has 2 indices and 1 values; expected as many";
  for (const [vector, name, message] of /** @type {[unknown, string, string][]} */ ([
    [undefined, "TypeError", "vector is undefined; expected a SparseVector"],
    [values, "TypeError", "vector is Float32Array; expected a SparseVector"],
    [{ indices }, "TypeError", "vector.values is undefined; expected a Float32Array"],
    [{ indices: [0, 1], values }, "TypeError", "vector.indices is Array; expected a Uint32Array"],
    [{ indices, values: values.subarray(1) }, "RangeError", unequal],
    [{ indices, values }, "RangeError", beyond],
  ])) {
    await assert.rejects(embedder.tokens(vector), { name, message });
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
  const nothing = { indices: new Uint32Array(0), values: new Float32Array(0) };
  assert.deepEqual(await embedder.tokens(nothing), []);
});

test("once closed, it is a ClosedError", async () => {
  const other = await SparseEmbedder.open(modelUrl);
  const [vector] = await other.embed(["a"]);
  await other.close();
  for (const call of [
    () => other.embed(texts),
    () => other.embedQuery("a"),
    () => other.tokens(vector),
    () => other.embedIds([[1]]),
  ]) {
    await assert.rejects(call, ClosedError);
  }
});
