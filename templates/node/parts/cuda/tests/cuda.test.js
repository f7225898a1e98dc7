/** The proof that a GPU runs the model, here of what ONNX Runtime's profile might say. */

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { InferenceSession } from "onnxruntime-node";
import { checkProducts, judge } from "../src/cuda.js";
import { modelPath } from "./model.js";

const [CPU, CUDA] = ["CPUExecutionProvider", "CUDAExecutionProvider"];

test("a GPU runs the graph or is refused", async () => {
  const error = await checkProducts(modelPath).catch((error) => error);
  if (error) assert.match(error.message, /^device "cuda" /);
});

test("the runtime says where nodes ran", async () => {
  const create = InferenceSession.create.bind(InferenceSession);
  // On the CPU all else is the same.
  const onCpu = (/** @type {any} */ path, /** @type {any} */ options) =>
    create(path, { ...options, executionProviders: ["cpu"] });
  mock.method(InferenceSession, "create", onCpu);
  const message = /^device "cuda" does not run the graph: .* ran /;
  await assert.rejects(checkProducts(modelPath), { name: "DeviceError", message });
  mock.restoreAll();
});

/** Judge the profile of nodes. @param {Record<string, string>} providers by operator */
function judged(providers) {
  const events = Object.entries(providers).map(([op_name, provider]) => {
    return { cat: "Node", args: { op_name, provider } };
  });
  return judge(JSON.stringify([{ cat: "Session" }, ...events]));
}

test("products run on the device, and other nodes anywhere", () => {
  judged({ Shape: CPU, FusedMatMul: CUDA });
  judged({ Gather: CUDA });
  for (const name of ["FusedMatMul", "Gemm", "MultiHeadAttention"]) {
    const message = new RegExp(`does not run the graph: ${name} ran on ${CPU}; check `);
    const call = () => judged({ MatMul: CUDA, [name]: CPU });
    assert.throws(call, { name: "DeviceError", message });
  }
  assert.throws(() => judged({ Gather: CPU }), { name: "DeviceError" });
});
