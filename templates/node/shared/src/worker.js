/** A model in a thread of its own, which model.js asks. */

import { parentPort, workerData } from "node:worker_threads";
import { packed } from "./errors.js";
import { located } from "./modelfile.js";

/** @import { MessagePort, Transferable } from "node:worker_threads" */
/** @import { Within } from "./session.js" */

const port = /** @type {MessagePort} */ (parentPort);

/** @type {{ path: string, options: any, gate: Int32Array }} */
const { path, options, gate } = workerData;

/** @type {Promise<any>} */
const opened = within(async () => {
  const { openSession } = await import("./session.js");
  return openSession(path, options, within);
});
// Whoever asks is told.
opened.catch(() => {});

port.on("message", async ({ id, method, args }) => {
  try {
    const result = await (await opened)[method](...args);
    // An output of onnxruntime-node has its memory to itself, so it is handed over.
    const vectors = Array.isArray(result) ? result.filter(ArrayBuffer.isView) : [];
    const buffers = new Set(vectors.map(({ buffer }) => /** @type {Transferable} */ (buffer)));
    port.postMessage({ id, result }, [...buffers]);
  } catch (error) {
    port.postMessage({ id, error: packed(located(path, error)) });
  }
});

/** Make a call of native code; never returns if the process is about to end. @type {Within} */
async function within(call) {
  Atomics.add(gate, 0, 1);
  try {
    if (Atomics.load(gate, 1) === 0) return await call();
  } finally {
    Atomics.sub(gate, 0, 1);
    Atomics.notify(gate, 0);
  }
  return new Promise(() => {});
}
