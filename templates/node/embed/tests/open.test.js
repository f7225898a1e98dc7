/** How a model may not be opened. */

import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { Embedder } from "../src/embedder.js";
import { modelPath } from "./model.js";

/** @type {(path: any, options?: any) => Promise<Embedder>} */
const open = Embedder.open;

/** @type {(call: Promise<unknown>, name: string, message: string) => Promise<void>} */
function rejects(call, name, message) {
  return assert.rejects(call, { name, message });
}

test("a path is a string or a URL of a file", async () => {
  for (const [path, type] of [
    [5, "number"],
    [undefined, "undefined"],
    [Buffer.from("m.onnx"), "Uint8Array"],
    [new URL("data:,m.onnx"), "URL"],
  ]) {
    await rejects(open(path), "TypeError", `path is ${type}; expected a path`);
  }
});

test("an unknown device is an error that lists the choices", async () => {
  for (const [device, name] of [
    ["tpu", "tpu"],
    ["toString", "toString"],
    [null, "null"],
  ]) {
    const message = `unknown device "${name}"; choose one of: cpu, cuda`;
    await rejects(open(modelPath, { device }), "DeviceError", message);
  }
});

test("threads is a whole number of processors that the process may use", async () => {
  for (const threads of [0, -1, availableParallelism() + 1]) {
    const message = new RegExp(
      `^threads is ${threads}; expected 1 to \\d+, the processors that this process may use$`,
    );
    await assert.rejects(open(modelPath, { threads }), { name: "RangeError", message });
  }
  for (const [threads, found] of [
    [1.5, 1.5],
    [Number.NaN, Number.NaN],
    ["1", "string"],
    [1n, "bigint"],
  ]) {
    const message = `threads is ${found}; expected a whole number`;
    await rejects(open(modelPath, { threads }), "TypeError", message);
  }
});

test("options are an object of known keys", async () => {
  const example = 'expected options such as { device: "cpu" }, got string';
  await rejects(open(modelPath, "cuda"), "TypeError", example);
  const choices = 'unknown option "thread"; choose one of: device, threads';
  await rejects(open(modelPath, { thread: 1 }), "TypeError", choices);
});
