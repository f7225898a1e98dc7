/** Answer requests of polybake's protocol, in the page. */

import { env } from "onnxruntime-web/wasm";
import { Tokenizer } from "../src/tokenizer.js";
import { answerTo } from "./answers.js";

/** @param {string} line */
export function answer(line) {
  return answerTo(JSON.parse(line), about);
}

async function about() {
  const version = /(?:Chrome|Firefox|Version)\/([\d.]+)/.exec(navigator.userAgent)?.[1];
  const tokenizer = new Tokenizer(await Tokenizer.compile());
  return {
    language: "browser",
    language_version: version ?? "unknown",
    runtime_version: env.versions.web ?? "unknown",
    tokenizer_version: tokenizer.version,
    proven_by: "append",
  };
}
