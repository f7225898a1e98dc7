/** Let a thread answer what model.js asks. */

import { ModelError, packed } from "./errors.js";
import { located } from "./modelfile.js";
import { openSession } from "./session.js";

/** @import { Runtime } from "./session.js" */

/** @param {(address: string) => Promise<Runtime>} load gives ONNX Runtime */
export function serve(load) {
  // A worker's own, which takes no origin.
  const post = (/** @type {object} */ message, /** @type {Transferable[]} */ transfer = []) =>
    self.postMessage(message, { transfer });
  let file = "";
  /** @type {any} */
  let session;

  /** @type {(source: any, options: any) => Promise<object>} */
  async function open({ name, content, runtime }, options) {
    file = name;
    const tell = (/** @type {object} */ progress) => post({ progress });
    const loaded = await load(runtime).catch((cause) => {
      const remedy = "correct onnxruntime-web/wasm in the page's import map";
      throw new ModelError(`onnxruntime cannot be loaded (${cause.message}); ${remedy}`, { cause });
    });
    session = await openSession(loaded, content, options, tell);
    return session.facts;
  }

  self.addEventListener("message", async ({ data: { id, method, args } }) => {
    try {
      const result = await (method === "open" ? open : session[method])(...args.splice(0));
      // An output of ONNX Runtime has its memory to itself, so it is handed over.
      const vectors = Array.isArray(result) ? result.filter(ArrayBuffer.isView) : [];
      post({ id, result }, [...new Set(vectors.map(({ buffer }) => buffer))]);
    } catch (error) {
      post({ id, error: packed(located(file, error)) });
    }
  });
}
