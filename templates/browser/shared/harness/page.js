/** Answer requests of the harness protocol, in the page. */

import { env } from "onnxruntime-web/wasm";
import { Tokenizer } from "../src/tokenizer.js";
import { answerTo } from "./answers.js";

/** @import { Begin } from "./answers.js" */

/** @param {string} line */
export function answer(line) {
  return answerTo(JSON.parse(line), begin);
}

/** @type {Begin} */
async function begin() {
  const version = /(?:Chrome|Firefox|Version)\/([\d.]+)/.exec(navigator.userAgent)?.[1];
  const tokenizer = new Tokenizer(await Tokenizer.compile());
  return {
    client: {
      language: "browser",
      language_version: version ?? "unknown",
      runtime_version: env.versions.web ?? "unknown",
      tokenizer_version: tokenizer.version,
    },
    proven_by: "append",
  };
}
