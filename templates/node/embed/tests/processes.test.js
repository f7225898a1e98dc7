/** Threads, telemetry, and the end of an embedder. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mock, test } from "node:test";
import { Tokenizer } from "tokenizers";
import { ClosedError, DeviceError, Embedder } from "../src/index.js";
import { countProcessors } from "../src/processors.js";
import { runAlone } from "./alone.js";
import { folder, modelPath } from "./model.js";

// Only now, as src/telemetry.js has to come first.
const { InferenceSession } = await import("onnxruntime-node");

test("close awaits calls in flight, and frees graph and tokenizer", async () => {
  const embedder = await Embedder.open(modelPath);
  const release = mock.method(/** @type {any} */ (InferenceSession).prototype, "release");
  const setModel = mock.method(Tokenizer.prototype, "setModel");
  let ended = 0;
  const calls = [embedder.embed(["a", "b"]), embedder.embedIds([[1]]), embedder.selfCheck()];
  for (const call of calls) call.then(() => ++ended);
  await Promise.all([embedder.close(), embedder.close()]);
  assert.equal(ended, calls.length);
  await embedder.close();
  assert.equal(release.mock.callCount(), 1);
  assert.equal(setModel.mock.callCount(), 1);
  mock.restoreAll();
});

test("after close every method is a ClosedError", async () => {
  const embedder = await Embedder.open(modelPath);
  await embedder[Symbol.asyncDispose]();
  for (const call of [
    () => embedder.embed(["a"]),
    () => embedder.embedQuery("a"),
    () => embedder.embedQueries(["a"]),
    () => embedder.embedDocuments(["a"]),
    () => embedder.tokenize(["a"]),
    () => embedder.embedIds([[1]]),
    () => embedder.selfCheck(),
  ]) {
    await assert.rejects(call(), ClosedError);
  }
  assert.match(`${embedder}`, /closed/);
});

/**
 * The options that an embedder opens its session with.
 *
 * @param {object} [options]
 */
async function sessionOptions(options) {
  const create = mock.method(InferenceSession, "create");
  const embedder = await Embedder.open(modelPath, options);
  await embedder.close();
  mock.restoreAll();
  return /** @type {any} */ (create.mock.calls[0].arguments[1]);
}

test("threads reach onnxruntime", async () => {
  const { present, usable } = countProcessors();
  assert.equal((await sessionOptions({ threads: usable })).intraOpNumThreads, usable);
  assert.equal((await sessionOptions({ threads: 1 })).intraOpNumThreads, 1);
  // 0 is onnxruntime's own default.
  const expected = usable < present ? usable : 0;
  assert.equal((await sessionOptions()).intraOpNumThreads, expected);
});

test("threads spin only when asked to", async () => {
  const spinning = async (/** @type {object} */ options) =>
    (await sessionOptions(options)).extra.session.intra_op.allow_spinning;
  assert.equal(await spinning({}), "0");
  assert.equal(await spinning({ spin: true }), "1");
});

test("affinity mask and cgroups limit the processors", () => {
  /** @type {[usable: number, files: Record<string, string>][]} */
  const machines = [
    [8, {}],
    [3, { "proc/thread-self/status": "Name: node\nCpus_allowed_list:\t0-1,7\n" }],
    [2, { "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n" }],
    [1, { "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n" }],
    [8, { "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n" }],
    [8, { "proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/b/cpu.max": "100000 100000\n" }],
    [
      4,
      {
        "proc/self/cgroup": "3:cpu,cpuacct:/a\n1:name=systemd:/\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "400000\n",
        "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
      },
    ],
  ];
  for (const [usable, files] of machines) {
    const root = mkdtempSync(join(folder, "machine-"));
    const whole = {
      "proc/thread-self/status": "Cpus_allowed_list:\t0-7\n",
      "sys/devices/system/cpu/online": "0-7\n",
      ...files,
    };
    for (const [path, text] of Object.entries(whole)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    assert.deepEqual(countProcessors(root), { present: 8, usable });
  }
});

const EMBED = `import(process.env.SOURCE).then(async ({ Embedder }) => {
  const embedder = await Embedder.open(process.env.MODEL);
  await embedder.embed(["a"]);
  await embedder.close();
})`;

/** Ends before ONNX Runtime begins, as none of its telemetry is wanted here. */
const OPEN_NOTHING = `import(process.env.SOURCE).then(({ Embedder }) =>
  Embedder.open("nowhere.onnx").catch(() => {}))`;

/**
 * @param {string} script
 * @param {string} [options]
 */
function inWorker(script, options = "") {
  const worker = 'const { SHARE_ENV, Worker } = require("node:worker_threads");';
  return `${worker} new Worker(${JSON.stringify(script)}, { eval: true, ${options} })`;
}

const SET = 'process.env.ORT_DISABLE_TELEMETRY = "1";';

test("ONNX Runtime sends no telemetry", () => {
  assert.deepEqual(runAlone(EMBED), { home: [], errors: "" });
});

test("nor does it in a worker whose main thread has the variable", () => {
  const silent = { home: [], errors: "" };
  assert.deepEqual(runAlone(inWorker(EMBED, "env: SHARE_ENV")), silent);
  assert.deepEqual(runAlone(SET + inWorker(EMBED)), silent);
});

test("a client that comes too late says so", () => {
  for (const script of [
    inWorker(OPEN_NOTHING),
    inWorker(SET + OPEN_NOTHING),
    inWorker(OPEN_NOTHING, 'env: { ...process.env, ORT_DISABLE_TELEMETRY: "1" }'),
    `require("onnxruntime-node"); ${OPEN_NOTHING}`,
  ]) {
    const warning = /^\(.*\) Warning: ONNX Runtime may send telemetry from this process: /;
    assert.match(runAlone(script).errors, warning);
  }
});

test("who wants telemetry is obeyed, without a word", () => {
  const wanted = 'process.env.ORT_DISABLE_TELEMETRY = "0";';
  const check = '.then(() => console.assert(process.env.ORT_DISABLE_TELEMETRY === "0"))';
  const late = `require("onnxruntime-node"); ${wanted}`;
  for (const script of [
    wanted + OPEN_NOTHING + check,
    late + OPEN_NOTHING,
    wanted + inWorker(OPEN_NOTHING),
  ]) {
    assert.equal(runAlone(script).errors, "");
  }
});

test("cuda runs on CUDA or is a DeviceError that says what to install", async () => {
  try {
    const embedder = await Embedder.open(modelPath, { device: "cuda" });
    assert.equal(embedder.provider, "CUDAExecutionProvider");
    await embedder.close();
  } catch (error) {
    assert.ok(error instanceof DeviceError);
    assert.match(error.message, /^device "cuda" could not be started .*onnxruntime-node$/);
  }
});

test("a profile shows the provider that really ran", async () => {
  const { openProfiled } = await import("../src/cuda.js");
  const { session, providers } = await openProfiled(modelPath, { executionProviders: ["cpu"] });
  assert.deepEqual(providers, ["CPUExecutionProvider"]);
  await session.release();
});
