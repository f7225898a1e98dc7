/** Open the graph on the device asked for, or not at all. */

import { env, InferenceSession } from "onnxruntime-node";
import { openOnCuda } from "./cuda.js";
import { ModelError } from "./errors.js";
import { Graph } from "./graph.js";
import { countProcessors } from "./processors.js";

/** @import { OpenOptions } from "./open-options.js" */

/**
 * @param {string} path
 * @param {OpenOptions} options
 * @returns {Promise<Graph>}
 */
export async function openGraph(path, { device, threads, spin }) {
  // The level of what all sessions share; a choice of the user's own stays.
  if (env.logLevel === "warning") env.logLevel = "error";
  /** @type {InferenceSession.SessionOptions} */
  const options = {
    executionProviders: [device],
    intraOpNumThreads: threads ?? defaultThreads(),
    extra: { session: { intra_op: { allow_spinning: spin ? "1" : "0" } } },
    logSeverityLevel: 3,
  };
  if (device === "cuda") return openOnCuda(path, options);
  try {
    return new Graph(await InferenceSession.create(path, options), "CPUExecutionProvider");
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new ModelError(`onnxruntime cannot load the graph: ${message}`, { cause: error });
  }
}

/** As many as the processors to which the process is limited; 0 is onnxruntime's own default. */
function defaultThreads() {
  const { present, usable } = countProcessors();
  return usable < present ? usable : 0;
}
