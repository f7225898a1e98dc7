/** What finds words by rules and tokenizers of tests. */

import { CONTRACT } from "../src/contract.js";

/** @import { Chunk } from "../src/chunk.js" */

/** @typedef {[start: number, end: number, word: number | null]} Token placed by characters */

export const RULES = ["gaps", "continuation", "gpt2"];

/**
 * What finds words by another contract, and what its tokenizer was asked.
 *
 * @param {string} rule
 * @param {(chunk: string) => Token[]} [tokens]
 * @param {number} [room]
 */
export async function open(rule, tokens = tokensOf, room = Infinity) {
  CONTRACT.settings.words = rule;
  // A module of its own, which reads the contract anew.
  const { chunksOf } = await import(`../src/chunks.js?${rule}`);
  /** @type {string[][]} */
  const asked = [];
  const encode = async (/** @type {string[]} */ chunks) => {
    asked.push(chunks);
    return chunks.map((chunk) => {
      const found = tokens(chunk);
      return {
        getOffsets: () => found.map(([start, end]) => [start, end]),
        getWordIds: () => found.map(([, , word]) => word),
      };
    });
  };
  /** @type {(...texts: string[]) => Promise<Chunk[][]>} */
  const chunks = (...texts) => chunksOf(encode, texts, room);
  const words = async (/** @type {string} */ text) => {
    const [found] = await chunks(text);
    return found.flatMap((chunk) => chunk.words.map(({ start, end }) => text.slice(start, end)));
  };
  return { asked, chunks, words };
}

/**
 * A token for each character but spaces and asterisks; letters side by side are a word.
 *
 * @param {string} chunk
 * @returns {Token[]}
 */
function tokensOf(chunk) {
  const words = [...chunk.matchAll(/[\p{L}\p{M}]+|[^\p{L}\p{M} *]/gu)];
  return words.flatMap(({ index, 0: found }, word) => {
    const begin = [...chunk.slice(0, index)].length;
    return [...found].map((_, place) => [begin + place, begin + place + 1, word]);
  });
}
