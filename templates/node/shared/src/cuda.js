/** Open the graph on CUDA, and see that it runs there. */

import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InferenceSession } from "onnxruntime-node";
import { CONTRACT } from "./contract.js";
import { DeviceError } from "./errors.js";
import { Graph } from "./graph.js";
import { packed } from "./rows.js";

const PROVIDER = "CUDAExecutionProvider";

const REMEDY =
  "install cuDNN 9 and the CUDA whose libraries are missed, after: " +
  "ONNXRUNTIME_NODE_INSTALL=cuda12 npm rebuild onnxruntime-node";

/**
 * @param {string} path
 * @param {InferenceSession.SessionOptions} options
 * @throws {DeviceError} the device is not there
 */
export async function openOnCuda(path, options) {
  // TF32 would round products to 10 bits. onnxruntime-node passes no use_tf32 to the provider;
  // NVIDIA's libraries read this variable when they are loaded.
  process.env.NVIDIA_TF32_OVERRIDE ??= "0";
  const { session, providers } = await openProfiled(path, options).catch((error) => {
    const message = `device "cuda" could not be started (${error.message}); ${REMEDY}`;
    throw new DeviceError(message, { cause: error });
  });
  if (providers.join() !== PROVIDER) {
    await session.release();
    const active = providers.join(" and ") || "nothing";
    throw new DeviceError(`device "cuda" could not be started, only ${active}; ${REMEDY}`);
  }
  return new Graph(session, PROVIDER);
}

/**
 * Open a session and run one token through it under ONNX Runtime's profiler; later runs are not
 * profiled.
 *
 * @param {string} path
 * @param {InferenceSession.SessionOptions} options
 * @returns {Promise<{ session: InferenceSession, providers: string[] }>} with the session, the
 *   providers that ran its matrix products, or every node of a graph that has none
 */
export async function openProfiled(path, options) {
  const folder = await mkdtemp(join(tmpdir(), "onnxruntime-profile-"));
  try {
    const session = await InferenceSession.create(path, {
      ...options,
      enableProfiling: true,
      profileFilePrefix: join(folder, "run"),
    });
    try {
      const token = packed([[CONTRACT.pad_id]]);
      await new Graph(session, PROVIDER).run(token, [0], CONTRACT.default_prompt);
      session.endProfiling();
      const [file] = await readdir(folder);
      return { session, providers: providersIn(await readFile(join(folder, file), "utf8")) };
    } catch (error) {
      await session.release();
      throw error;
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @param {string} profile events in Chrome's trace format */
function providersIn(profile) {
  /** @type {{ cat: string, args?: { op_name?: string, provider?: string } }[]} */
  const events = JSON.parse(profile);
  const nodes = events.flatMap(({ cat, args }) => (cat === "Node" && args?.provider ? [args] : []));
  const products = nodes.filter(({ op_name = "" }) => /MatMul|Gemm|Attention/.test(op_name));
  const seen = products.length > 0 ? products : nodes;
  return [...new Set(seen.map(({ provider = "" }) => provider))];
}
