/** The thread that a model lives in. */

import assert from "node:assert/strict";
import { after, mock, test } from "node:test";
import { Worker } from "node:worker_threads";
import * as errors from "../src/errors.js";
import { Embedder } from "../src/index.js";
import { Thread } from "../src/model.js";
import { runAlone } from "./alone.js";
import { modelPath, writeFile } from "./model.js";

/** The threads that embedders have started. @type {Worker[]} */
const threads = [];
process.on("worker", (worker) => threads.push(worker));

const embedder = await Embedder.open(modelPath);
after(() => embedder.close());

const kinds = ["", "a", "b c", "a b c ".repeat(9)];
const texts = Array.from({ length: 20_000 }, (_, index) => kinds[index % kinds.length]);

test("vectors have the order of the texts, a window of which is in the thread at a time", async () => {
  const ask = mock.method(Thread.prototype, "ask");
  const vectors = await embedder.embed(texts);
  const sizes = ask.mock.calls.map(({ arguments: [, window] }) => window.length);
  mock.restoreAll();
  assert.deepEqual(sizes, [8192, 8192, 20_000 - 2 * 8192]);
  const alone = await embedder.embed(kinds);
  const near = (/** @type {Float32Array} */ one, /** @type {Float32Array} */ other) =>
    one.every((element, at) => Math.abs(element - other[at]) < 1e-5);
  const wrong = vectors.findIndex((vector, place) => {
    return !near(/** @type {any} */ (vector), /** @type {any} */ (alone[place % kinds.length]));
  });
  assert.deepEqual([vectors.length, wrong], [texts.length, -1]);
});

test("a list is judged whole before the thread sees any of it", async () => {
  const ask = mock.method(Thread.prototype, "ask");
  const call = embedder.embed([...texts, "\ud800"]);
  await assert.rejects(call, { name: "InvalidTextError", index: texts.length });
  assert.equal(ask.mock.callCount(), 0);
  mock.restoreAll();
});

test("this thread is free while a call runs", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await embedder.embed(texts);
  clearInterval(timer);
  assert.ok(turns > 3, `${turns} turns`);
});

test("close awaits calls in flight and ends the thread", async () => {
  const other = await Embedder.open(modelPath);
  let ended = 0;
  const calls = [other.embed(texts), other.embedIds([[1]]), other.selfCheck()];
  for (const call of calls) call.then(() => ++ended);
  await Promise.all([other.close(), other.close()]);
  assert.equal(ended, calls.length);
  assert.equal(threads.at(-1)?.threadId, -1);
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

test("a thread that cannot open the file ends", async () => {
  await assert.rejects(Embedder.open(writeFile()), errors.ModelError);
  assert.equal(threads.at(-1)?.threadId, -1);
});

test("a thread that is ended by others fails its calls", async () => {
  const other = await Embedder.open(modelPath);
  await threads.at(-1)?.terminate();
  const message = "the model's thread ended; open the file again";
  await assert.rejects(other.embed(["a"]), { name: "ModelError", message });
  await other.close();
});

test("errors keep class, fields and cause", () => {
  const cause = Object.assign(new Error("of the system"), { code: "ENOENT" });
  for (const error of [
    new errors.ModelError("m", { cause }),
    new errors.DeviceError("d", { cause }),
    new errors.InvalidTextError("t", 3),
    new errors.InvalidIdsError("i", 4),
    new errors.SelfCheckError("one", "embed", Number.NaN, 0.1),
    new RangeError("r"),
  ]) {
    const sent = structuredClone(errors.packed(error));
    const received = errors.unpacked(sent);
    assert.equal(received.constructor, error.constructor);
    assert.deepEqual(received, error);
    assert.deepEqual(received.cause, error.cause);
    assert.equal(received.stack, error.stack);
  }
});

test("an error of the thread reaches the caller with its class and cause", async () => {
  const error = await Embedder.open("nowhere.onnx").catch((error) => error);
  assert.ok(error instanceof errors.EmbedderError);
  assert.ok(error instanceof errors.ModelError);
  assert.equal(error.name, "ModelError");
  assert.equal(/** @type {any} */ (error.cause).code, "ENOENT");
});

const OPEN = `import(process.env.SOURCE).then(async ({ Embedder }) => {
  const embedder = await Embedder.open(process.env.MODEL);`;

test("an embedder that nobody waits for keeps no process", () => {
  assert.deepEqual(runAlone(`${OPEN} await embedder.embed(["a"]); })`), { home: [], errors: "" });
});

test("one that somebody waits for does, and so does close", () => {
  for (const call of ["embedder.embed(Array(3000).fill('a'))", "embedder.close()"]) {
    assert.equal(runAlone(`${OPEN} await ${call}; process.exit(5); })`, 5).errors, "");
  }
});

test("a process ends in the midst of a run without an abort", () => {
  const run = "embedder.embed(Array(8000).fill('a b c '.repeat(50)));";
  for (const [end, code] of /** @type {const} */ ([
    ["process.exit(3)", 3],
    ["throw 5", 1],
  ])) {
    for (const delay of [1, 20, 60]) {
      runAlone(`${OPEN} ${run} setTimeout(() => { ${end} }, ${delay}); })`, code);
    }
  }
});

test("the end of a process waits for a call of native code, here for that which opens a model", () => {
  const script = (/** @type {number} */ delay) => `
    const { wait } = Atomics;
    let waits = 0;
    Atomics.wait = (...args) => {
      const found = wait(...args);
      if (found === "ok") waits++;
      return found;
    };
    process.on("exit", () => require("node:fs").writeSync(2, String(waits)));
    import(process.env.SOURCE).then(({ Embedder }) => {
      for (let opened = 0; opened < 8; opened++) Embedder.open(process.env.MODEL);
      setTimeout(() => process.exit(), ${delay});
    })`;
  // Of so many moments, not all are before or after so many calls.
  const delays = [40, 80, 120, 160, 200, 300];
  assert.ok(delays.some((delay) => Number(runAlone(script(delay)).errors) > 0));
});
