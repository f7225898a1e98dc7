/** A model in a thread of its own, so that no call blocks the caller's event loop. */

import { EventEmitter, once } from "node:events";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { SHARE_ENV, Worker } from "node:worker_threads";
import * as errors from "./errors.js";

/** @import * as api from "../index.d.ts" */

/** Of each thread 1 while it runs native code, and 2 more once it may begin none. @type {Set<Int32Array>} */
const gates = new Set();

// A thread that is ended inside onnxruntime-node aborts the process: its C++ finds no JavaScript to
// return to. So the end of a process waits for such a call, before any listener that may throw.
process.prependListener("exit", () => {
  for (const gate of gates) {
    while (Atomics.or(gate, 0, 2) & 1) Atomics.wait(gate, 0, 3);
  }
});

export class Thread {
  #gate = new Int32Array(new SharedArrayBuffer(4));
  #worker = new Worker(new URL("./worker.js", import.meta.url), {
    workerData: this.#gate,
    execArgv: [], // options such as --eval are not for a file
    env: SHARE_ENV, // what is set for native code has to reach the process
  });
  /** Gives each answer by the number of its question, and what ends the thread. */
  #answers = new EventEmitter().setMaxListeners(0);
  #asked = 0;
  #waiting = 0;
  /** @type {Error | undefined} */
  #failure;
  /** What the session says of itself. @type {any} */
  facts;

  constructor() {
    gates.add(this.#gate);
    this.#answers.on("error", (error) => {
      this.#failure ??= error;
    });
    this.#worker.on("message", ({ id, ...answer }) => this.#answers.emit(id, answer));
    this.#worker.on("error", (error) => this.#answers.emit("error", error));
    this.#worker.on("exit", () => gates.delete(this.#gate));
  }

  /** @param {api.Source} source @param {api.OpenOptions} options */
  static async open(source, { device, threads }) {
    const path = source instanceof URL ? fileURLToPath(source) : resolve(source);
    const thread = new Thread();
    thread.facts = await thread.ask("open", { path, device, threads });
    return thread;
  }

  /** What a method of the thread's session gives. @param {string} method @param {unknown[]} args */
  async ask(method, ...args) {
    if (this.#failure) throw this.#failure;
    const id = String(++this.#asked);
    this.#worker.postMessage({ id, method, args });
    // A process may end while nobody waits for an answer.
    if (this.#waiting++ === 0) this.#worker.ref();
    const [{ result, error, kind }] = await once(this.#answers, id).finally(() => {
      if (--this.#waiting === 0) this.#worker.unref();
    });
    // A message between threads loses the class of an error.
    const Kind = /** @type {any} */ (errors)[kind];
    if (error) throw Kind ? new Kind(error.message) : error;
    return result;
  }

  /** End the thread, and with it all that it holds: graph, tokenizer, and their memory. */
  async end() {
    await this.#worker.terminate();
  }
}
