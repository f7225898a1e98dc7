/** An embedder in a thread of its own. */

import assert from "node:assert/strict";
import { after, mock, test } from "node:test";
import { packedError, unpackedError } from "../src/error-transfer.js";
import * as errors from "../src/errors.js";
import { Gate } from "../src/gate.js";
import { Embedder } from "../src/index.js";
import { runAlone } from "./alone.js";
import { modelPath, writeFile } from "./model.js";

// Only now, as src/telemetry.js has to come first.
const { InferenceSession } = await import("onnxruntime-node");

/** The threads that embedders have started. @type {import("node:worker_threads").Worker[]} */
const threads = [];
process.on("worker", (worker) => threads.push(worker));

const inside = await Embedder.open(modelPath);
after(() => inside.close());
const texts = Array.from({ length: 9000 }, (_, index) => `${index} ${"a b c ".repeat(index % 3)}`);

test("it gives what an embedder in this thread gives, and none runs here", async (context) => {
  const create = mock.method(InferenceSession, "create");
  const embedder = await Embedder.open(modelPath, { worker: true });
  context.after(() => embedder.close());
  assert.equal(`${embedder}`, `${inside}`);
  assert.deepEqual({ ...embedder }, { ...inside });
  const vectors = await embedder.embed(texts);
  assert.deepEqual(vectors, await inside.embed(texts));
  assert.ok(vectors.every(({ buffer, byteLength }) => buffer.byteLength === byteLength));
  const streamed = [];
  for await (const vector of embedder.embedEach(texts)) streamed.push(vector);
  assert.deepEqual(streamed, vectors);
  assert.deepEqual(await embedder.embedQuery("a"), await inside.embedQuery("a"));
  assert.deepEqual(await embedder.embedDocuments(["a"]), await inside.embedDocuments(["a"]));
  const ids = await embedder.tokenize(["a", "b c"]);
  assert.deepEqual(ids, await inside.tokenize(["a", "b c"]));
  assert.deepEqual(await embedder.embedIds([...ids, []]), await inside.embedIds([...ids, []]));
  assert.equal(await embedder.selfCheck(), await inside.selfCheck());
  assert.equal(create.mock.callCount(), 0);
  mock.restoreAll();
});

test("close awaits calls in flight and ends the thread", async () => {
  const embedder = await Embedder.open(modelPath, { worker: true });
  let ended = 0;
  const calls = [embedder.embed(texts), embedder.embedIds([[1]]), embedder.selfCheck()];
  for (const call of calls) call.then(() => ++ended);
  await Promise.all([embedder.close(), embedder.close()]);
  assert.equal(ended, calls.length);
  assert.equal(threads.at(-1)?.threadId, -1);
  await embedder.close();
  await assert.rejects(embedder.embed(["a"]), errors.ClosedError);
});

test("what progress throws, and a signal, end a run in the thread, too", async (context) => {
  const embedder = await Embedder.open(modelPath, { worker: true });
  context.after(() => embedder.close());
  const [thread] = threads.slice(-1);
  const window = texts.slice(0, 8192);
  const messagesOf = async (/** @type {Promise<unknown>} */ call) => {
    let messages = 0;
    const add = () => ++messages;
    thread.on("message", add);
    await call;
    thread.off("message", add);
    return messages;
  };
  const all = await messagesOf(embedder.embed(window));
  const thrown = new Error("enough");
  const progress = () => {
    throw thrown;
  };
  // This thread may be too late on a busy machine, but not each time.
  let fewest = all;
  for (let turn = 0; turn < 10 && fewest > all / 2; turn++) {
    const call = assert.rejects(embedder.embed(window, { progress }), thrown);
    fewest = Math.min(fewest, await messagesOf(call));
  }
  assert.ok(fewest <= all / 2, `${fewest} of ${all}`);
  const controller = new AbortController();
  const { signal } = controller;
  const call = embedder.embed(texts, { signal, progress: () => controller.abort() });
  await assert.rejects(call, { name: "AbortError" });
  assert.equal((await embedder.embed(["a"])).length, 1);
});

test("a gate that is shut lets no call begin", async () => {
  const gate = new Gate();
  assert.equal(await gate.within(async () => 5), 5);
  gate.shut();
  gate.within(assert.fail);
  await new Promise(setImmediate);
  gate.shut();
});

test("errors keep class, fields and cause", () => {
  const cause = Object.assign(new Error("of the system"), { code: "ENOENT" });
  for (const error of [
    new errors.ModelError("m", { cause }),
    new errors.DeviceError("d", { cause }),
    new errors.InvalidTextError("t", 3),
    new errors.InvalidIdsError("i", 4),
    new errors.SelfCheckError("plain", "embed", 0.5, 0.25),
    new RangeError("r"),
  ]) {
    const found = unpackedError(structuredClone(packedError(error)));
    assert.deepEqual(found, error);
    assert.equal(found.constructor, error.constructor);
    assert.deepEqual(found.cause, error.cause);
  }
});

test("a file that cannot be opened is the same error, and leaves no thread", async () => {
  for (const path of ["nowhere.onnx", writeFile()]) {
    const fault = await Embedder.open(path).catch((error) => error);
    const found = await Embedder.open(path, { worker: true }).catch((error) => error);
    assert.ok(found instanceof errors.ModelError);
    assert.deepEqual([found.message, found.cause], [fault.message, fault.cause]);
    assert.equal(threads.at(-1)?.threadId, -1);
  }
});

test("a thread that is ended by others fails its calls", async () => {
  const embedder = await Embedder.open(modelPath, { worker: true });
  await threads.at(-1)?.terminate();
  const fault = { name: "EmbedderError", message: "the embedder's thread ended; open another" };
  await assert.rejects(embedder.embed(["a"]), fault);
  await embedder.close();
});

test("what the thread sets for native code reaches the process", async () => {
  delete process.env.NVIDIA_TF32_OVERRIDE;
  const call = Embedder.open(modelPath, { device: "cuda", worker: true });
  await call.then(
    (embedder) => embedder.close(),
    (error) => assert.ok(error instanceof errors.DeviceError),
  );
  assert.equal(process.env.NVIDIA_TF32_OVERRIDE, "0");
});

/** @param {string} then what the main thread does while a long batch runs, again and again */
function amidst(then) {
  return `import(process.env.SOURCE).then(async ({ Embedder }) => {
    const embedder = await Embedder.open(process.env.MODEL, { worker: true });
    const rows = new Array(20000).fill(new Array(Math.min(16, embedder.maxLength)).fill(1));
    (async () => { for (;;) await embedder.embedIds(rows); })();
    setTimeout(() => { ${then} }, 150 + 100 * Math.random());
  })`;
}

test("a process ends without a signal in the midst of a run", () => {
  for (let turn = 0; turn < 3; turn++) {
    assert.equal(runAlone(amidst("process.exit(3)"), 3).errors, "");
    assert.match(runAlone(amidst('throw new Error("mine")'), 1).errors, /Error: mine/);
  }
});

test("nor does it while a file is opened", () => {
  const open = "Embedder.open(process.env.MODEL, { worker: true });";
  for (const delay of [30, 60, 90, 120, 150]) {
    const exit = `setTimeout(() => process.exit(3), ${delay});`;
    runAlone(`import(process.env.SOURCE).then(({ Embedder }) => { ${open} ${exit} })`, 3);
  }
});

test("a process ends when nobody waits for a vector, and sends no telemetry", () => {
  const script = `import(process.env.SOURCE).then(async ({ Embedder }) => {
    const embedder = await Embedder.open(process.env.MODEL, { worker: true });
    console.assert((await embedder.embed(["a", "b"])).length === 2);
  })`;
  assert.deepEqual(runAlone(script), { home: [], errors: "" });
});
