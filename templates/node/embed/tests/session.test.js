/** What ONNX Runtime is asked for, and what its failures are called. */

import assert from "node:assert/strict";
import { availableParallelism, cpus } from "node:os";
import { after, mock, test } from "node:test";
import { InferenceSession } from "onnxruntime-node";
import { Tokenizer } from "tokenizers";
import { checkedOpenOptions } from "../src/arguments.js";
import { DeviceError, Embedder } from "../src/index.js";
import { openGraph, openSession } from "../src/session.js";
import { modelPath } from "./model.js";

after(() => mock.restoreAll());

const create = mock.method(InferenceSession, "create");

/** @param {object} options */
async function opened(options) {
  const { device, threads } = checkedOpenOptions(options);
  const graph = await openGraph(modelPath, device, threads);
  await graph.release();
  return /** @type {any} */ (create.mock.calls.at(-1)?.arguments[1]);
}

test("threads reach onnxruntime, and do not spin", async () => {
  assert.equal((await opened({ threads: 1 })).intraOpNumThreads, 1);
  const { intraOpNumThreads, extra } = await opened({});
  assert.equal(extra.session.intra_op.allow_spinning, "0");
  // 0 is onnxruntime's own default.
  const whole = availableParallelism() === cpus().length;
  assert.ok(whole ? intraOpNumThreads <= cpus().length : intraOpNumThreads > 0);
});

test("ONNX Runtime's telemetry is off, unless the user has said what it is", async () => {
  const { ORT_DISABLE_TELEMETRY: before } = process.env;
  for (const [set, found] of [
    ["", "1"],
    ["0", "0"],
  ]) {
    process.env.ORT_DISABLE_TELEMETRY = set;
    await opened({});
    assert.equal(process.env.ORT_DISABLE_TELEMETRY, found);
  }
  process.env.ORT_DISABLE_TELEMETRY = before ?? "1";
});

const cause = new Error("Failed to allocate memory");
const failing = /** @type {any} */ ({ run: () => Promise.reject(cause) });

test("a run that fails on the CPU is a ModelError", async () => {
  create.mock.mockImplementationOnce(async () => failing);
  const session = await openSession(modelPath, { device: "cpu", threads: 1 }, (call) => call());
  const message = "onnxruntime cannot run the graph: Failed to allocate memory";
  await assert.rejects(session.run([[1]], null), { name: "ModelError", message, cause });
});

test("a tokenizer that fails is a ModelError", async () => {
  const session = await openSession(modelPath, { device: "cpu", threads: 1 }, (call) => call());
  const encode = mock.method(Tokenizer.prototype, "encodeBatch", () => Promise.reject(cause));
  const message = "tokenizers cannot split the texts: Failed to allocate memory";
  await assert.rejects(session.tokenize(["a"], null), { name: "ModelError", message, cause });
  encode.mock.restore();
});

test("a run that fails on a GPU is a DeviceError", async () => {
  create.mock.mockImplementationOnce(async () => failing);
  const message = /^device "cuda" cannot run the graph \(Failed to allocate memory\); check /;
  await assert.rejects(openGraph(modelPath, "cuda"), { name: "DeviceError", message, cause });
});

test("cuda runs on CUDA or is a DeviceError that says what to install", async () => {
  const error = await Embedder.open(modelPath, { device: "cuda" }).then(
    async (embedder) => {
      assert.equal(embedder.provider, "CUDAExecutionProvider");
      await embedder.close();
    },
    (error) => error,
  );
  if (error === undefined) return;
  assert.ok(error instanceof DeviceError);
  assert.match(error.message, /^device "cuda" cannot load the graph .*onnxruntime-node$/s);
});
