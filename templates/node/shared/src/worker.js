/** A model in a thread of its own, which thread.js asks. */

import { workerData as gate, parentPort } from "node:worker_threads";

/** @type {any} */
let session;
let last = Promise.resolve();

parentPort?.on("message", (asked) => {
  // One after another, so that the end of a process waits for one alone.
  last = last.then(() => answer(asked));
});

/** Make a call of native code; where the process ends, wait for that instead. @param {any} asked */
async function answer({ id, method, args }) {
  while (Atomics.compareExchange(gate, 0, 0, 1) !== 0) Atomics.wait(gate, 0, 2);
  const failed = (/** @type {any} */ error) => ({ error, kind: error.name, result: [] });
  const given = await called(method, args).catch(failed);
  // Before the answer, upon which this thread may be ended.
  Atomics.and(gate, 0, 2);
  Atomics.notify(gate, 0);
  // What the graph gives has its memory to itself, so it is handed over.
  const buffers = [given.result].flat().flatMap(({ buffer }) => buffer ?? []);
  parentPort?.postMessage({ id, ...given }, buffers);
  if (!session) parentPort?.close(); // the thread ends
}

/** @param {string} method @param {any[]} args */
async function called(method, args) {
  if (method !== "open") return { result: await session[method](...args) };
  const { openSession } = await import("./session.js");
  session = await openSession(args[0]);
  return { result: session.facts };
}
