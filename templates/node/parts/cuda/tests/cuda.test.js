/** The proof that a GPU runs the model, here of what ONNX Runtime's profile might say. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkProducts, judge } from "../src/cuda.js";

const [CPU, CUDA] = ["CPUExecutionProvider", "CUDAExecutionProvider"];

/** Judge the profile of nodes. @param {Record<string, string>} providers by operator */
function judged(providers) {
  const nodes = Object.entries(providers).map(([op_name, provider]) => ({ op_name, provider }));
  const events = nodes.map((args) => ({ cat: "Node", args }));
  return () => judge(JSON.stringify([{ cat: "Session" }, ...events]));
}

test("products run on the device, and other nodes anywhere", () => {
  judged({ Shape: CPU, FusedMatMul: CUDA })();
  judged({ Gather: CUDA })();
  for (const name of ["FusedMatMul", "Gemm", "MultiHeadAttention"]) {
    const message = new RegExp(`does not run the graph: ${name} ran on ${CPU}; check `);
    assert.throws(judged({ MatMul: CUDA, [name]: CPU }), { name: "DeviceError", message });
  }
  assert.throws(judged({ Gather: CPU }), { name: "DeviceError" });
});

test("a GPU runs the graph or is refused", async () => {
  const error = await checkProducts(String(process.env.POLYBAKE_MODEL)).catch((error) => error);
  if (error) assert.match(error.message, /^device "cuda" /);
});
