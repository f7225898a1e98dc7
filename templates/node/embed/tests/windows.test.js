/** Long lists and streams of texts. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { CONTRACT } from "../src/contract.js";
import { Embedder } from "../src/embedder.js";
import { ClosedError } from "../src/errors.js";
import { Model } from "../src/model.js";

const WINDOW = 8192;

/**
 * An embedder of texts that are numbers: each first element is one more than its text, modulo 100.
 *
 * @returns the embedder, and what its tokenizer and its graph were asked for
 */
function counting() {
  const asked = { texts: 0, tokens: 0, events: /** @type {string[]} */ ([]) };
  const { dimension } = CONTRACT.output;
  const tokenizer = {
    encodeBatch: async (/** @type {string[]} */ texts) => {
      asked.texts = Math.max(asked.texts, texts.length);
      asked.events.push("tokenize");
      return texts.map((text) => {
        const number = Number(text.match(/\d+$/)?.[0]);
        return { getIds: () => new Array(1 + (number % 5)).fill(1 + (number % 100)) };
      });
    },
    setModel: () => {},
  };
  const graph = {
    run: async (/** @type {any} */ rows, /** @type {number[]} */ places) => {
      const longest = Math.max(...places.map((place) => rows.lengthOf(place)));
      asked.tokens = Math.max(asked.tokens, places.length * longest);
      asked.events.push("run");
      const data = new Float32Array(places.length * dimension);
      for (const [row, place] of places.entries()) {
        data[row * dimension] = Number(rows.idsOf(place)[0]);
      }
      await new Promise(setImmediate);
      return data;
    },
    release: async () => asked.events.push("release"),
  };
  /** @type {[string, any, any, any, "cpu"]} */
  const parts = ["", { name: "", fingerprint: "" }, tokenizer, graph, "cpu"];
  return { embedder: new Embedder(new Model(...parts)), asked };
}

/** @param {number} count */
function numbers(count) {
  return Array.from({ length: count }, (_, index) => `${index}`);
}

/** The vectors' first elements. @param {Iterable<import("../index.d.ts").Vector>} vectors */
function firsts(vectors) {
  return Array.from(vectors, ([first]) => first);
}

const expected = numbers(20_000).map((text) => 1 + (Number(text) % 100));

test("vectors have the order of the texts, however many there are", async () => {
  const { embedder, asked } = counting();
  assert.deepEqual(firsts(await embedder.embed(numbers(20_000))), expected);
  assert.deepEqual([asked.texts, asked.tokens], [WINDOW, 512]);
});

test("progress counts the texts that are done, to the last", async () => {
  const { embedder, asked } = counting();
  /** @type {number[]} */
  const counts = [];
  await embedder.embed(numbers(20_000), { progress: (done) => counts.push(done) });
  assert.equal(counts.length, asked.events.filter((event) => event === "run").length);
  assert.ok(counts.every((done, index) => done > (counts[index - 1] ?? 0)));
  assert.equal(counts.at(-1), 20_000);
});

test("what progress throws, and a signal, end a call after the batch that runs", async () => {
  const { embedder, asked } = counting();
  const thrown = new Error("enough");
  const progress = () => {
    throw thrown;
  };
  await assert.rejects(embedder.embed(numbers(2000), { progress }), thrown);
  assert.deepEqual(asked.events, ["tokenize", "run"]);
  for (const method of /** @type {const} */ (["embed", "embedQueries", "embedDocuments"])) {
    const controller = new AbortController();
    const { signal } = controller;
    const call = embedder[method](numbers(2000), { signal, progress: () => controller.abort() });
    await assert.rejects(call, { name: "AbortError" });
    assert.deepEqual(asked.events.splice(0).slice(-2), ["tokenize", "run"]);
  }
});

test("a stream gives each vector in order, of whatever gives texts", async () => {
  const { embedder } = counting();
  async function* slowly() {
    for (const text of numbers(20_000)) yield text;
  }
  for (const texts of [numbers(20_000), numbers(20_000).values(), slowly()]) {
    const found = [];
    for await (const vector of embedder.embedEach(texts)) found.push(vector);
    assert.deepEqual(firsts(found), expected);
  }
  for await (const _ of embedder.embedEach([])) assert.fail();
});

test("a stream reads two windows ahead, and tokenises the next one while one runs", async () => {
  const { embedder, asked } = counting();
  let taken = 0;
  let ended = false;
  function* endless() {
    try {
      for (;;) yield `${taken++}`;
    } finally {
      ended = true;
    }
  }
  const stream = embedder.embedEach(endless());
  await new Promise(setImmediate);
  assert.equal(taken, 0);
  for (let count = 1; count <= WINDOW; count++) {
    await stream.next();
    assert.ok(taken <= 2 * WINDOW);
  }
  assert.deepEqual(asked.events.slice(0, 3), ["tokenize", "run", "tokenize"]);
  await stream.return();
  assert.ok(ended);
  assert.ok(asked.events.filter((event) => event === "tokenize").length === 2);
});

test("a text that is none ends a stream after the windows before it", async () => {
  for (const [bad, fault] of /** @type {[any, object][]} */ ([
    ["\ud800", { name: "InvalidTextError", index: WINDOW + 1 }],
    [5, { name: "TypeError", message: `texts[${WINDOW + 1}] is number; expected a string` }],
    [Promise.resolve("a"), { message: `texts[${WINDOW + 1}] is Promise; expected a string` }],
  ])) {
    const { embedder } = counting();
    let given = 0;
    const read = async () => {
      const texts = [...numbers(WINDOW), "0", bad, "0"];
      for await (const _ of embedder.embedEach(texts)) given++;
    };
    await assert.rejects(read(), fault);
    assert.equal(given, WINDOW);
  }
});

test("a signal ends a stream between two batches", async () => {
  const { embedder, asked } = counting();
  const controller = new AbortController();
  const stream = embedder.embedEach(numbers(20_000), { signal: controller.signal });
  const first = stream.next();
  while (!asked.events.includes("run")) await new Promise(setImmediate);
  controller.abort();
  await assert.rejects(first, { name: "AbortError" });
  assert.equal(asked.events.filter((event) => event === "run").length, 1);
  assert.ok((await stream.next()).done);
});

/** Gives so many texts, then stands still until it is ended. @param {number} count */
function standing(count) {
  const texts = numbers(count).values();
  let ended = false;
  const source = {
    next: () => {
      const { done, value = "" } = texts.next();
      return done ? new Promise(() => {}) : Promise.resolve({ done, value });
    },
    return: async () => {
      ended = true;
      return { done: true, value: undefined };
    },
  };
  const stream = { [Symbol.asyncIterator]: () => source };
  return { stream: /** @type {AsyncIterable<string>} */ (stream), hasEnded: () => ended };
}

/** What a call gives, if it does not wait. @param {Promise<unknown>} call */
async function soon(call) {
  const timer = new AbortController();
  try {
    return await Promise.race([call, setTimeout(5000, "it waits", { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

test("a stream that is left does not wait for a source that stands still", async () => {
  const { embedder } = counting();
  const { stream, hasEnded } = standing(WINDOW);
  const read = async () => {
    for await (const _ of embedder.embedEach(stream)) break;
    return "left";
  };
  assert.equal(await soon(read()), "left");
  assert.ok(hasEnded());
});

test("a signal ends a stream whose source stands still", async () => {
  for (const count of [0, 1, WINDOW]) {
    const { embedder } = counting();
    const { stream, hasEnded } = standing(count);
    const controller = new AbortController();
    const { signal } = controller;
    const read = async () => {
      for await (const _ of embedder.embedEach(stream, { signal })) assert.notEqual(count, 1);
    };
    const call = soon(read());
    await setTimeout(100);
    controller.abort();
    await assert.rejects(call, { name: "AbortError" });
    assert.ok(hasEnded());
  }
});

test("what fails ends a stream whose source stands still", async () => {
  const { embedder } = counting();
  const { stream, hasEnded } = standing(WINDOW);
  const call = embedder.embedEach(stream).next();
  await embedder.close();
  await assert.rejects(soon(call), ClosedError);
  assert.ok(hasEnded());
});

test("a stream that is left alone does not keep close waiting, and its next window fails", async () => {
  const { embedder, asked } = counting();
  const stream = embedder.embedEach(numbers(WINDOW + 1));
  await stream.next();
  await embedder.close();
  assert.equal(asked.events.at(-1), "release");
  for (let count = 1; count < WINDOW; count++) await stream.next();
  await assert.rejects(stream.next(), ClosedError);
  assert.throws(() => embedder.embedEach([]), ClosedError);
});
