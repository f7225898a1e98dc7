/** Texts as rows of token ids. */

import { CONTRACT } from "./contract.js";

/** @typedef {string} Text what a row is made of */

/** @typedef {(texts: string[]) => Promise<number[][]>} Encode ids of each text, truncated */

/** @param {Encode} encode @param {Text[]} texts @param {string | null} prompt */
export function idsOf(encode, texts, prompt) {
  const prefix = prompt === null ? "" : CONTRACT.prompts[prompt];
  return encode(texts.map((text) => prefix + text));
}
