/** The worker that a model lives in. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import * as errors from "../src/errors.js";
import { Embedder } from "../src/index.js";
import { Thread } from "../src/model.js";
import { modelPath } from "./model.js";

const embedder = await Embedder.open(modelPath);
after(() => embedder.close());

const kinds = ["", "a", "b c", "a b c ".repeat(9)];
const texts = Array.from({ length: 20_000 }, (_, index) => kinds[index % kinds.length]);

test("vectors have the order of the texts, a window of which is in the worker at a time", async () => {
  const { ask } = Thread.prototype;
  /** @type {number[]} */
  const sizes = [];
  Thread.prototype.ask = function (...asked) {
    sizes.push(asked[1].length);
    return ask.apply(this, asked);
  };
  const vectors = await embedder.embed(texts);
  Thread.prototype.ask = ask;
  assert.deepEqual(sizes, [8192, 8192, 20_000 - 2 * 8192]);
  const alone = await embedder.embed(kinds);
  const near = (/** @type {Float32Array} */ one, /** @type {Float32Array} */ other) =>
    one.every((element, at) => Math.abs(element - other[at]) < 1e-5);
  const wrong = vectors.findIndex((vector, place) => {
    return !near(/** @type {any} */ (vector), /** @type {any} */ (alone[place % kinds.length]));
  });
  assert.deepEqual([vectors.length, wrong], [texts.length, -1]);
});

test("a list is judged whole before the worker sees any of it", async () => {
  const { ask } = Thread.prototype;
  let asked = 0;
  Thread.prototype.ask = async () => ++asked;
  const call = embedder.embed([...texts, "\ud800"]);
  await assert.rejects(call, { name: "InvalidTextError", index: texts.length });
  Thread.prototype.ask = ask;
  assert.equal(asked, 0);
});

test("the page is free while a call runs", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await embedder.embed(texts);
  clearInterval(timer);
  assert.ok(turns > 3, `${turns} turns`);
});

test("calls that overlap give what each gives alone", async () => {
  const expected = await embedder.embed(kinds);
  const calls = Array.from({ length: 8 }, () => embedder.embed(kinds));
  for (const vectors of await Promise.all(calls)) assert.deepEqual(vectors, expected);
});

test("close awaits calls in flight", async () => {
  const other = await Embedder.open(modelPath);
  let ended = 0;
  const calls = [other.embed(texts), other.embedIds([[1]]), other.selfCheck()];
  for (const call of calls) call.then(() => ++ended);
  await Promise.all([other.close(), other.close()]);
  assert.equal(ended, calls.length);
  await other.close();
});

test("after close every method is a ClosedError", async () => {
  const other = await Embedder.open(modelPath);
  await other[Symbol.asyncDispose]();
  for (const call of [
    () => other.embed(["a"]),
    () => other.embedQuery("a"),
    () => other.embedQueries(["a"]),
    () => other.embedDocuments(["a"]),
    () => other.tokenize(["a"]),
    () => other.embedIds([[1]]),
    () => other.selfCheck(),
  ]) {
    await assert.rejects(call(), errors.ClosedError);
  }
});

test("errors keep class, fields and cause", () => {
  const cause = Object.assign(new Error("of the runtime"), { code: 5 });
  for (const error of [
    new errors.ModelError("m", { cause }),
    new errors.DeviceError("d", { cause }),
    new errors.InvalidTextError("t", 3),
    new errors.InvalidIdsError("i", 4),
    new errors.SelfCheckError("one", "embed", Number.NaN, 0.1),
    new RangeError("r"),
  ]) {
    const received = errors.unpacked(structuredClone(errors.packed(error)));
    assert.equal(received.constructor, error.constructor);
    assert.deepEqual(received, error);
    assert.deepEqual(received.cause, error.cause);
  }
});

test("an error of the worker reaches the caller with its class and cause", async () => {
  const error = await Embedder.open("http://localhost:1/m.onnx").catch((error) => error);
  assert.ok(error instanceof errors.EmbedderError);
  assert.ok(error instanceof errors.ModelError);
  assert.ok(error.cause instanceof TypeError);
});

test("a runtime that is not where the import map says is a ModelError", async () => {
  const { ask } = Thread.prototype;
  Thread.prototype.ask = function (method, file, options) {
    return ask.call(this, method, { ...file, runtime: "/nowhere.js" }, options);
  };
  const call = Embedder.open(modelPath);
  Thread.prototype.ask = ask;
  const message = /: onnxruntime cannot be loaded \(.*nowhere\.js\); correct onnxruntime-web\/wasm/;
  await assert.rejects(call, { name: "ModelError", message });
});

test("a worker that fails says what to do, then and later", async () => {
  const { Worker } = globalThis;
  const module = new Blob(["throw new Error('no memory')"], { type: "text/javascript" });
  globalThis.Worker = class extends Worker {
    constructor() {
      super(URL.createObjectURL(module), { type: "module" });
    }
  };
  const call = Embedder.open(modelPath);
  globalThis.Worker = Worker;
  const message = /^the model's thread failed \(.*no memory\); name onnxruntime-web\/wasm in /;
  await assert.rejects(call, { name: "ModelError", message });
});
