/** How a model is opened. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Embedder } from "../src/embedder.js";
import { manifest, modelPath, modelUrl } from "./model.js";

/** @type {(source: any, options?: any) => Promise<Embedder>} */
const open = Embedder.open;

/** @type {(call: Promise<unknown>, name: string, message: string) => Promise<void>} */
function rejects(call, name, message) {
  return assert.rejects(call, { name, message });
}

const file = await (await fetch(modelUrl)).blob();

test("a source is an address, a URL, a File, a Blob or an ArrayBuffer, which is handed over", async () => {
  const buffer = await file.arrayBuffer();
  for (const source of [modelPath, modelUrl, new File([file], "m.onnx"), file, buffer]) {
    const embedder = await open(source);
    assert.equal(embedder.fingerprint, manifest.fingerprint);
    await embedder.close();
  }
  assert.equal(buffer.byteLength, 0);
});

test("nothing else is a source", async () => {
  for (const [source, type] of [
    [5, "number"],
    [undefined, "undefined"],
    [new Uint8Array(1), "Uint8Array"],
  ]) {
    const message = `source is ${type}; expected an address, a Blob or an ArrayBuffer`;
    await rejects(open(source), "TypeError", message);
  }
});

test("there is no device but the CPU", async () => {
  for (const device of ["webgpu", "cuda", "toString"]) {
    const message = `unknown device "${device}"; choose one of: cpu`;
    await rejects(open(modelPath, { device }), "DeviceError", message);
  }
});

test("options are an object of known keys, each of its type", async () => {
  const example = "expected options such as { cache: true }, got string";
  await rejects(open(modelPath, "cpu"), "TypeError", example);
  for (const [options, message] of [
    [
      { thread: 1 },
      'unknown option "thread"; choose one of: device, threads, cache, progress, signal',
    ],
    [{ cache: "yes" }, "cache is string; expected true or false"],
    [{ progress: true }, "progress is boolean; expected a function"],
    [{ signal: new AbortController() }, "signal is AbortController; expected an AbortSignal"],
    [{ threads: 1.5 }, "threads is 1.5; expected a whole number"],
    [{ threads: "1" }, "threads is string; expected a whole number"],
  ]) {
    await rejects(open(modelPath, options), "TypeError", /** @type {string} */ (message));
  }
});

test("threads are those of the processor, in a page that is isolated from others", async () => {
  assert.ok(crossOriginIsolated);
  const most = navigator.hardwareConcurrency;
  for (const threads of [0, most + 1]) {
    const range = `expected 1 to ${most}, the processors that this page may use`;
    await rejects(open(modelPath, { threads }), "RangeError", `threads is ${threads}; ${range}`);
  }
  const embedder = await open(modelPath, { threads: most });
  assert.ok((await embedder.selfCheck()) < 1e-5);
  await embedder.close();
});

test("one thread is all of another page", async () => {
  Object.defineProperty(globalThis, "crossOriginIsolated", { value: false, configurable: true });
  const message = "threads is 2; expected 1 to 1, which every page may use";
  await rejects(open(modelPath, { threads: 2 }), "RangeError", message);
  Reflect.deleteProperty(globalThis, "crossOriginIsolated");
});
