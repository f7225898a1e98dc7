/** A model in a thread of its own, which thread.js asks. */

import { parentPort, workerData } from "node:worker_threads";

/** 1 while native code runs, and 2 once the process ends. @type {Int32Array} */
const gate = workerData;
let running = 0;
/** @type {any} */
let session;

parentPort?.on("message", async ({ id, method, args }) => {
  try {
    const result = await gated(async () => {
      if (method !== "open") return session[method](...args);
      const { openSession } = await import("./session.js");
      session = await openSession(args[0]);
      return session.facts;
    });
    // What the graph gives has its memory to itself, so it is handed over.
    const buffers = [result].flat().flatMap(({ buffer }) => buffer ?? []);
    parentPort?.postMessage({ id, result }, buffers);
  } catch (/** @type {any} */ error) {
    parentPort?.postMessage({ id, error, kind: error.name });
    if (!session) parentPort?.close(); // the thread ends
  }
});

/** Make a call of native code; where the process ends, wait for that instead. @param {() => Promise<any>} call */
async function gated(call) {
  if (running++ === 0) {
    while (Atomics.compareExchange(gate, 0, 0, 1) === 2) Atomics.wait(gate, 0, 2);
  }
  try {
    return await call();
  } finally {
    if (--running === 0) {
      Atomics.store(gate, 0, 0);
      Atomics.notify(gate, 0);
    }
  }
}
