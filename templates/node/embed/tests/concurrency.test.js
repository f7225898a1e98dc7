/** Batches side by side, each in a thread of its own. */

import assert from "node:assert/strict";
import { resolve } from "node:path";
import { after, beforeEach, mock, test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { Embedder, EmbedderError, ModelError } from "../src/index.js";
import { countProcessors } from "../src/processors.js";
import { RemoteModel } from "../src/remote-model.js";
import { RemoteModels } from "../src/remote-models.js";
import { packed } from "../src/rows.js";
import { modelPath } from "./model.js";

/** The threads that embedders have started. @type {import("node:worker_threads").Worker[]} */
const threads = [];
process.on("worker", (worker) => threads.push(worker));

/** @type {import("../src/open-options.js").OpenOptions} */
const OPTIONS = { device: "cpu", threads: 1, spin: false, worker: true, concurrency: 2 };

// Not by the options of an embedder, of which a machine with one processor lets none be 2.
const models = await RemoteModels.open(modelPath, OPTIONS);
const embedder = new Embedder(models);
const inside = await Embedder.open(modelPath);
after(() => Promise.all([embedder.close(), inside.close()]));

const texts = Array.from({ length: 9000 }, (_, index) => `${index} ${"a b c ".repeat(index % 3)}`);

/**
 * The batches that have begun: the model, the lengths of the rows, and how many ran beside it then.
 *
 * @type {{ model: RemoteModel, lengths: number[], beside: number }[]}
 */
const begun = [];
let running = 0;
/** What the end of a batch awaits, by its number. @type {Map<number, Promise<void>>} */
const held = new Map();

const run = RemoteModel.prototype.run;
mock.method(
  RemoteModel.prototype,
  "run",
  /** @type {(this: RemoteModel, ...args: Parameters<typeof run>) => Promise<void>} */
  async function (rows, ...rest) {
    const lengths = Array.from({ length: rows.length }, (_, place) => rows.lengthOf(place));
    const number = begun.push({ model: this, lengths, beside: running++ }) - 1;
    try {
      await run.call(this, rows, ...rest);
      await held.get(number);
    } finally {
      running--;
    }
  },
);

beforeEach(() => {
  begun.length = 0;
  held.clear();
  running = 0;
});

/**
 * Let a batch seem to run on.
 *
 * @param {number} number which one of those that begin
 * @returns {() => void} ends it
 */
function hold(number) {
  let release = () => {};
  const end = new Promise((resolve) => {
    release = () => resolve(undefined);
  });
  held.set(number, end);
  return release;
}

/**
 * Wait until something is so, and then a little, in which more could happen that must not.
 *
 * @param {() => boolean} isSo
 */
async function settle(isSo) {
  const end = performance.now() + 20_000;
  while (!isSo()) {
    assert.ok(performance.now() < end, `not within 20 seconds: ${isSo}`);
    await turnOfTheLoop();
  }
  for (let turn = 0; turn < 20; turn++) await turnOfTheLoop();
}

/** @param {Promise<unknown>} call */
function noteEnd(call) {
  const noted = { isOver: false };
  const over = () => {
    noted.isOver = true;
  };
  call.then(over, over);
  return noted;
}

function checkLastTwoEnded() {
  const [one, other] = threads.slice(-2).map(({ threadId }) => threadId);
  assert.deepEqual([one, other], [-1, -1]);
}

/** @param {number[]} lengths */
function rowsOf(...lengths) {
  return packed(lengths.map((length) => new Array(length).fill(1)));
}

test("not a bit of a vector differs, whatever runs side by side", async () => {
  assert.equal(`${embedder}`, `${inside}`);
  assert.deepEqual({ ...embedder }, { ...inside });
  /** @type {number[]} */
  const counts = [];
  const progress = (/** @type {number} */ done) => counts.push(done);
  const vectors = await embedder.embed(texts, { progress });
  assert.deepEqual(vectors, await inside.embed(texts));
  assert.ok(counts.every((done, index) => index === 0 || done > counts[index - 1]));
  assert.deepEqual([counts.length, counts.at(-1)], [begun.length, texts.length]);
  const streamed = [];
  for await (const vector of embedder.embedEach(texts)) streamed.push(vector);
  assert.deepEqual(streamed, vectors);
  const ids = await embedder.tokenize(["a", "b c"]);
  assert.deepEqual(ids, await inside.tokenize(["a", "b c"]));
  assert.deepEqual(await embedder.embedIds([...ids, []]), await inside.embedIds([...ids, []]));
  assert.deepEqual(await embedder.embed([]), []);
  assert.equal(await embedder.selfCheck(), await inside.selfCheck());
});

test("batches run side by side, but none of one long row", async () => {
  /** @type {number[]} */
  const taken = [];
  const take = (/** @type {number[]} */ places) => taken.push(...places);
  const short = new Array(30).fill(3);
  await models.run(rowsOf(...short, 10, 12, 8, 9), null, take, 8);
  const long = begun.slice(0, 3);
  assert.deepEqual(
    long.map(({ lengths }) => lengths),
    [[12], [10], [9]],
  );
  assert.ok(long.every(({ model, beside }) => model === long[0].model && beside === 0));
  const rest = begun.slice(3);
  assert.deepEqual(
    rest.slice(0, 2).map(({ lengths }) => lengths),
    [[8], [3, 3]],
  );
  assert.equal(Math.max(...rest.map(({ beside }) => beside)), 1);
  assert.equal(new Set(rest.map(({ model }) => model)).size, 2);
  assert.deepEqual(taken.slice(0, 3), [31, 30, 33]);
  assert.deepEqual(
    taken.sort((a, b) => a - b),
    [...new Array(34).keys()],
  );
});

test("calls of one batch are in different threads", async () => {
  await Promise.all([embedder.embedIds([[1]]), embedder.embedIds([[1]])]);
  assert.equal(new Set(begun.map(({ model }) => model)).size, 2);
});

test("what is thrown after a batch ends a call, once nothing of it is left", async () => {
  const thrown = new Error("enough");
  const release = hold(1);
  let takes = 0;
  const take = () => {
    takes++;
    throw thrown;
  };
  const call = models.run(rowsOf(...new Array(40).fill(3)), null, take, 8);
  const end = noteEnd(call);
  await settle(() => takes > 0 && running === 1);
  assert.equal(end.isOver, false);
  release();
  await assert.rejects(call, thrown);
  assert.deepEqual([takes, running, begun.length], [1, 0, 2]);
});

test("a signal ends a call, after which the next one runs", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const call = embedder.embed(texts, { signal, progress: () => controller.abort() });
  await assert.rejects(call, { name: "AbortError" });
  assert.equal(running, 0);
  assert.equal((await embedder.embed(["a"])).length, 1);
});

test("a thread that is ended by others fails a call, once the other one is done", async () => {
  const other = new Embedder(await RemoteModels.open(modelPath, OPTIONS));
  const [releaseFirst, releaseSecond] = [hold(0), hold(1)];
  let batches = 0;
  const call = other.embed(texts.slice(0, 8192), { progress: () => ++batches });
  const end = noteEnd(call);
  await settle(() => batches === 2);
  // Between two runs: a thread that is ended in the midst of one aborts the process.
  await threads.at(-1)?.terminate();
  releaseSecond();
  await settle(() => running === 1);
  assert.equal(end.isOver, false);
  releaseFirst();
  await assert.rejects(call, EmbedderError);
  assert.deepEqual([running, batches], [0, 2]);
  await other.close();
  checkLastTwoEnded();
});

test("close awaits calls in flight and ends all threads", async () => {
  const other = new Embedder(await RemoteModels.open(modelPath, OPTIONS));
  let ended = 0;
  const calls = [other.embed(texts), other.embedIds([[1]]), other.selfCheck()];
  for (const call of calls) call.then(() => ++ended);
  await other.close();
  assert.equal(ended, calls.length);
  checkLastTwoEnded();
});

test("where one cannot be opened, none is left open", async () => {
  const nowhere = resolve("nowhere.onnx");
  const fault = await Embedder.open(nowhere).catch((error) => error);
  const message = { name: "ModelError", message: fault.message };
  await assert.rejects(RemoteModels.open(nowhere, OPTIONS), message);
  const open = RemoteModel.open;
  const opened = mock.method(RemoteModel, "open", open);
  opened.mock.mockImplementationOnce(() => open(nowhere, OPTIONS), 0);
  await assert.rejects(RemoteModels.open(modelPath, OPTIONS), ModelError);
  assert.equal(opened.mock.callCount(), 2);
  checkLastTwoEnded();
  opened.mock.restore();
});

const alone = countProcessors().usable === 1 && "there is one processor alone";

test("an embedder opens as many threads as it is asked for", { skip: alone }, async () => {
  const before = threads.length;
  const one = await Embedder.open(modelPath, { worker: true, concurrency: 1 });
  assert.equal(threads.length, before + 1);
  const two = await Embedder.open(modelPath, { worker: true, concurrency: 2 });
  assert.equal(threads.length, before + 3);
  assert.deepEqual(await two.embed(["a"]), await one.embed(["a"]));
  await Promise.all([one.close(), two.close()]);
});
