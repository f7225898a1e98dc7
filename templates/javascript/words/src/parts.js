/** Texts of any length, a part at a time. */

import { CONTRACT } from "./contract.js";
import { ModelError } from "./errors.js";
import { WINDOW } from "./model.js";
import { resultOf } from "./outputs.js";

/** @import { Vector } from "../index.d.ts" */
/** @import { Chunk, Word } from "./chunk.js" */
/** @import { Thread } from "./model.js" */
/** @import { Text } from "./tokens.js" */

/** Tokens that two parts of a text share, at most. */
const OVERLAP = 128;

/**
 * A part of a text that goes through the model at once: `chunks.slice(first, last)`.
 *
 * @typedef {object} Part
 * @property {number} first
 * @property {number} last
 */

/**
 * As few parts as hold no more tokens than there is room, overlapping by whole chunks beside which the
 * next one fits; a piece of a chunk is a part by itself, as it has other tokens beside another one.
 *
 * @param {Chunk[]} chunks
 * @param {number} room
 */
export function partsOf(chunks, room) {
  const shared = Math.min(OVERLAP, Math.floor(room / 2));
  const sizes = chunks.map(({ tokens, inner }) => (inner === undefined ? tokens : room + 1));
  /** @type {Part[]} */
  const parts = [];
  let first = 0;
  let last = 0;
  let tokens = 0;
  while (last < sizes.length) {
    if (first === last) tokens += sizes[last++];
    while (last < sizes.length && tokens + sizes[last] <= room) tokens += sizes[last++];
    parts.push({ first, last });
    const next = sizes[last] ?? 0;
    do tokens -= sizes[first++];
    while (first < last && (tokens > shared || tokens + next > room));
  }
  return parts;
}

/**
 * The words of a part.
 *
 * @param {Chunk[]} chunks the part's
 * @param {number} tokens how many the graph was given: fewer where the only chunk is one character
 *   that has more than a row holds
 * @returns {Word[]}
 * @throws {ModelError} the tokenizer did not treat the chunks by themselves
 */
export function wordsOf(chunks, tokens) {
  const expected = chunks.reduce((sum, chunk) => sum + chunk.tokens, 0);
  if (tokens !== expected && !(chunks[0]?.inner !== undefined && tokens < expected)) {
    throw new ModelError(
      `the tokenizer gives ${tokens} tokens for a text, and ${expected} for what stands between ` +
        "its white space, so that no word's tokens are known; take special tokens out of it",
    );
  }
  let before = 0;
  const words = chunks.flatMap((chunk) => {
    const moved = chunk.words.map((word) => ({
      ...word,
      first: before + word.first,
      last: Math.min(before + word.last, tokens),
    }));
    before += chunk.tokens;
    return moved;
  });
  return words.filter(({ first }) => first < tokens);
}

/**
 * What the graph gives for one part after another, within a call of the thread's.
 *
 * @param {Pick<Thread, "ask">} thread @param {Text[]} parts
 * @returns {AsyncGenerator<Vector[]>}
 */
export async function* rowsOfEach(thread, parts) {
  for (let start = 0; start < parts.length; start += WINDOW) {
    const window = parts.slice(start, start + WINDOW);
    const found = await thread.ask("vectors", window, CONTRACT.default_prompt);
    for (const elements of found) yield resultOf(elements);
  }
}
