/** Let a thread answer what thread.js asks. */

import { ModelError } from "./errors.js";
import { openSession } from "./session.js";

/** @param {(address: string) => Promise<typeof import("onnxruntime-web/wasm")>} load gives ONNX Runtime */
export function serve(load) {
  // A worker's own, which takes no origin.
  const post = (/** @type {object} */ message, /** @type {Transferable[]} */ transfer = []) =>
    self.postMessage(message, { transfer });
  /** @type {any} */
  let session;

  /** @param {any} file */
  async function open(file) {
    const runtime = await load(file.runtime).catch((error) => {
      const remedy = "correct onnxruntime-web/wasm in the page's import map";
      throw new ModelError(`onnxruntime cannot be loaded (${error.message}); ${remedy}`);
    });
    session = await openSession(runtime, file, (progress) => post({ progress }));
    return session.facts;
  }

  self.addEventListener("message", async ({ data: { id, method, args } }) => {
    try {
      const result = await (method === "open" ? open(args[0]) : session[method](...args));
      // What the graph gives has its memory to itself, so it is handed over.
      const buffers = [result].flat().flatMap(({ buffer }) => buffer ?? []);
      post({ id, result }, buffers);
    } catch (/** @type {any} */ error) {
      post({ id, error, kind: error.name });
    }
  });
}
