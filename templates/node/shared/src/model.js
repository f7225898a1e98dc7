/** A model file, opened: what the clients of every task do. */

import { SHARE_ENV, Worker } from "node:worker_threads";
import { checkedOpenOptions, checkedPath, PROVIDERS } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { ClosedError, ModelError, unpacked } from "./errors.js";
import { LARGEST, resultOf } from "./outputs.js";

/** @import * as api from "../index.d.ts" */
/** @import { OpenOptions } from "./arguments.js" */

/** Texts in memory at a time, as token ids and as results of at most 64 MiB. */
export const WINDOW = Math.max(1, Math.min(8192, Math.floor(2 ** 24 / LARGEST)));

/** For each thread the number of its calls of native code, and whether none may begin. @type {Set<Int32Array>} */
const gates = new Set();

// A thread that is ended inside onnxruntime-node aborts the process: its C++ finds no JavaScript to
// return to. So the end of a process waits for such a call, before any listener that may throw.
process.prependListener("exit", () => {
  for (const gate of gates) {
    Atomics.store(gate, 1, 1);
    for (let calls = 1; calls > 0; calls = Atomics.load(gate, 0)) Atomics.wait(gate, 0, calls);
  }
});

/** A model file in a thread of its own, so that no call blocks the caller's event loop. */
export class Thread {
  #gate = new Int32Array(new SharedArrayBuffer(8));
  #worker;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: unknown) => void }>} */
  #questions = new Map();
  #asked = 0;
  /** @type {Set<Promise<unknown>>} */
  #calls = new Set();
  /** @type {Promise<void> | undefined} */
  #closing;
  /** @type {ModelError | undefined} */
  #failure;

  /** For `open` alone. @param {string} path @param {OpenOptions} options */
  constructor(path, options) {
    this.facts = { name: "", fingerprint: "", provider: PROVIDERS[options.device] };
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), {
      workerData: { path, options, gate: this.#gate },
      // Options such as --eval are not for a file.
      execArgv: [],
      // What is set for native code has to reach the process.
      env: SHARE_ENV,
    });
    gates.add(this.#gate);
    this.#worker.on("message", ({ id, result, error }) => {
      const question = this.#questions.get(id);
      if (error) question?.reject(unpacked(error));
      else question?.resolve(result);
    });
    this.#worker.on("error", (cause) => this.#end(cause));
    this.#worker.on("exit", () => {
      gates.delete(this.#gate);
      this.#end();
    });
  }

  /** @param {unknown} path @param {unknown} options */
  static async open(path, options) {
    const thread = new Thread(checkedPath(path), checkedOpenOptions(options));
    try {
      Object.assign(thread.facts, await thread.ask("facts"));
      return thread;
    } catch (error) {
      await thread.close();
      throw error;
    }
  }

  /**
   * What callers get of each text, a window of them at a time.
   *
   * @template [T=ReturnType<typeof resultOf>]
   * @param {unknown[]} texts @param {string | null} prompt
   * @param {(elements: api.Vector) => T} [of] makes it, in memory of its own, of what the graph gives
   */
  vectors(texts, prompt, of = /** @type {any} */ (resultOf)) {
    return this.call(async () => {
      /** @type {T[]} */
      const results = [];
      for (let start = 0; start < texts.length; start += WINDOW) {
        const window = texts.slice(start, start + WINDOW);
        for (const one of await this.ask("vectors", window, prompt)) results.push(of(one));
      }
      return results;
    });
  }

  /**
   * The same of rows of token ids, as one batch.
   *
   * @param {number[][]} rows @param {string | null} prompt
   * @returns {Promise<ReturnType<typeof resultOf>[]>}
   */
  run(rows, prompt) {
    return this.call(async () => (await this.ask("run", rows, prompt)).map(resultOf));
  }

  /** @type {(texts: unknown[], prompt: string | null) => Promise<number[][]>} */
  tokenize(texts, prompt) {
    return this.call(() => this.ask("tokenize", texts, prompt));
  }

  /** Make a call, whose end `close` awaits. @template T @param {() => Promise<T>} work */
  async call(work) {
    if (this.#closing) throw new ClosedError();
    const call = work();
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  close() {
    // With the thread ends all that it holds: graph, tokenizer, and their memory.
    this.#closing ??= Promise.allSettled(this.#calls).then(async () => {
      await this.#worker.terminate();
    });
    return this.#closing;
  }

  /** What a method of the thread's session gives. @type {(...asked: any[]) => Promise<any>} */
  async ask(method, ...args) {
    if (this.#failure) throw this.#failure;
    const id = ++this.#asked;
    const answer = new Promise((resolve, reject) => this.#questions.set(id, { resolve, reject }));
    this.#worker.ref();
    this.#worker.postMessage({ id, method, args });
    try {
      return await answer;
    } finally {
      this.#questions.delete(id);
      // A process may end while nobody waits for an answer.
      if (this.#questions.size === 0) this.#worker.unref();
    }
  }

  /** @param {unknown} [cause] */
  #end(cause) {
    this.#failure ??= new ModelError("the model's thread ended; open the file again", { cause });
    for (const { reject } of this.#questions.values()) reject(this.#failure);
  }
}

/** @implements {api.Model} */
export class Model {
  #thread;

  /** @param {Thread} thread */
  constructor(thread) {
    if (!thread?.facts) {
      const { name } = new.target;
      throw new TypeError(`${name} is opened, not made; call: await ${name}.open(path)`);
    }
    this.name = thread.facts.name;
    this.fingerprint = thread.facts.fingerprint;
    this.maxLength = CONTRACT.max_length;
    this.provider = thread.facts.provider;
    this.#thread = thread;
  }

  selfCheck() {
    return this.#thread.call(() => this.#thread.ask("selfCheck"));
  }

  close() {
    return this.#thread.close();
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }
}
