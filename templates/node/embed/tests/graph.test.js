/** What a run of the graph that fails is called. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Graph } from "../src/graph.js";
import { packed } from "../src/rows.js";

for (const [provider, name] of [
  ["CPUExecutionProvider", "ModelError"],
  ["CUDAExecutionProvider", "DeviceError"],
]) {
  test(`a run that fails on ${provider} is a ${name}`, async () => {
    const cause = new Error("Failed to allocate memory");
    const session = /** @type {any} */ ({ run: () => Promise.reject(cause) });
    const message = "onnxruntime cannot run the graph: Failed to allocate memory";
    const run = new Graph(session, provider).run(packed([[1]]), [0], null);
    await assert.rejects(run, { name, message, cause });
  });
}
