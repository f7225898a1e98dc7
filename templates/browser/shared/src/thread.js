/** A model in a thread of its own, so that no call blocks the page. */

import * as errors from "./errors.js";

/** @import * as api from "../index.d.ts" */

export class Thread {
  #worker;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: unknown) => void }>} */
  #questions = new Map();
  #asked = 0;
  /** @type {unknown} */
  #failure;
  /** What the session says of itself. @type {any} */
  facts;

  /** @param {Worker} worker @param {api.OpenOptions["progress"]} progress */
  constructor(worker, progress) {
    this.#worker = worker;
    worker.addEventListener("message", ({ data: { id, result, error, kind, ...more } }) => {
      if (more.progress) return progress?.(more.progress);
      // A message between threads loses the class of an error.
      const Kind = /** @type {any} */ (errors)[kind];
      const question = this.#questions.get(id);
      if (error) question?.reject(Kind ? new Kind(error.message) : error);
      else question?.resolve(result);
    });
    worker.addEventListener("error", (event) => {
      // Whoever asked is told, and nobody else.
      event.preventDefault();
      const fault = event.message ? `failed (${event.message})` : "cannot be loaded";
      const remedy = "name onnxruntime-web/wasm in the page's import map, or bundle the page";
      this.#fail(new errors.ModelError(`the model's thread ${fault}; ${remedy}`));
    });
  }

  /** @param {api.Source} source @param {api.OpenOptions} options */
  static async open(source, options) {
    const { device = "cpu", threads, progress, signal } = options;
    if (device !== "cpu") {
      throw new errors.DeviceError(`unknown device "${device}"; choose one of: cpu`);
    }
    signal?.throwIfAborted();
    const { worker, runtime } = startedWorker();
    const thread = new Thread(worker, progress);
    const abort = () => thread.#fail(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      thread.facts = await thread.ask("open", { ...contentOf(source), threads, runtime });
      return thread;
    } catch (error) {
      thread.end();
      throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** What a method of the thread's session gives. @param {string} method @param {any[]} args */
  async ask(method, ...args) {
    if (this.#failure) throw this.#failure;
    const id = ++this.#asked;
    // A file's bytes are handed over, so that they are not in memory twice.
    const buffers = args.map((one) => one?.content).filter((one) => one instanceof ArrayBuffer);
    this.#worker.postMessage({ id, method, args }, buffers);
    const answer = new Promise((resolve, reject) => this.#questions.set(id, { resolve, reject }));
    return answer.finally(() => this.#questions.delete(id));
  }

  /** End the thread, and with it all that it holds: graph, tokenizer, and their memory. */
  end() {
    this.#worker.terminate();
    this.#fail(new errors.ModelError("the model's thread ended; open the file again"));
  }

  /** @param {unknown} failure */
  #fail(failure) {
    this.#failure ??= failure;
    for (const { reject } of this.#questions.values()) reject(failure);
  }
}

/** What a model file is called, and its bytes or where they are. @param {api.Source} source */
function contentOf(source) {
  if (source instanceof File) return { path: source.name, content: source };
  if (source instanceof Blob) return { path: "the Blob", content: source };
  if (source instanceof ArrayBuffer) return { path: "the ArrayBuffer", content: source };
  if (typeof source !== "string" && !(source instanceof URL)) {
    const remedy = "of a view give its buffer";
    throw new TypeError(`source is no address, File, Blob or ArrayBuffer; ${remedy}`);
  }
  const base = globalThis.document?.baseURI ?? location.href;
  return { path: String(source), content: new URL(source, base).href };
}

/** A bundler finds the runtime by itself; without one, the page's import map says where it is. */
function startedWorker() {
  try {
    const runtime = import.meta.resolve("onnxruntime-web/wasm");
    const url = new URL("./mapped-worker.js", import.meta.url);
    return { runtime, worker: new Worker(url, { type: "module" }) };
  } catch {
    return { worker: new Worker(new URL("./worker.js", import.meta.url), { type: "module" }) };
  }
}
