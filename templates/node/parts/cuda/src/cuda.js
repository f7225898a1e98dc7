/** The proof that a GPU runs the model: cuda.d.ts documents it. */

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DeviceError } from "./errors.js";
import { openGraph, PROVIDERS } from "./session.js";

/** Operators that do most of the work, also those that ONNX Runtime makes of several. */
const PRODUCT = /MatMul|Gemm|Attention/;

/** @param {string | URL} source */
export async function checkProducts(source) {
  const path = source instanceof URL ? fileURLToPath(source) : source;
  const folder = await mkdtemp(join(tmpdir(), "onnxruntime-profile-"));
  try {
    const options = { enableProfiling: true, profileFilePrefix: join(folder, "run") };
    // It runs one token as it is opened.
    const graph = await openGraph(path, "cuda", undefined, options);
    graph.endProfiling();
    await graph.release();
    const [file] = await readdir(folder);
    judge(await readFile(join(folder, file), "utf8"));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A GPU's provider leaves computations on shapes to the CPU, so not every node must be its own. @param {string} profile events in Chrome's trace format */
export function judge(profile) {
  /** @type {{ cat: string, args?: { op_name: string, provider?: string } }[]} */
  const events = JSON.parse(profile);
  const nodes = events.flatMap(({ cat, args }) => (cat === "Node" && args?.provider ? [args] : []));
  const onGpu = nodes.filter(({ provider }) => provider === PROVIDERS.cuda);
  const stray = nodes.find((node) => PRODUCT.test(node.op_name) && !onGpu.includes(node));
  if (!stray && onGpu.length > 0) return;
  const where = stray ? `${stray.op_name} ran on ${stray.provider}` : "no node ran there";
  const remedy = "check the GPU driver and the CUDA libraries, and that the file is not in int8";
  throw new DeviceError(`device "cuda" does not run the graph: ${where}; ${remedy}`);
}
