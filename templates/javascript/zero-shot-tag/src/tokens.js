/** Prompts that name labels, each with a text, as rows of tokens. */

import { CONTRACT } from "./contract.js";
import { LongTextError } from "./errors.js";

/** @typedef {readonly [prompt: string, text: string]} Text what a row is made of */

/** @typedef {{ id: number | null, text: number | null, type_id: number, words?: boolean }} Piece */

const { max_length, vocab_size, pair } = CONTRACT;

/** What a row is joined of. @type {Piece[]} */
export const PIECES = pair.pieces;

const PLACES = PIECES.map(({ text }) => text);
const IDS = PIECES.map(({ id }) => Number(id));

/** The tokens before the prompt, and those behind the text. */
const BEFORE = IDS.slice(0, PLACES.indexOf(0));
const BEHIND = IDS.slice(PLACES.indexOf(1) + 1);

/** The most tokens that a prompt and a text have together. */
export const ROOM = max_length - BEFORE.length - BEHIND.length;

/** The type of the first token of each word; all others have type 0. */
const FIRST = 2;

/** U+001C to U+001F are white space beside what Unicode says is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: so the model's authors cut words
const WORD = /[\p{L}\p{N}_]+(?:[-_][\p{L}\p{N}_]+)*|[^\p{White_Space}\x1c-\x1f]/gu;

/**
 * One number a token: its id, and so many times the vocabulary's size as its type says.
 *
 * @type {(ids: number[], typeIds: number[]) => number[]}
 */
export function rowOf(ids, typeIds) {
  return ids.map((id, place) => id + vocab_size * typeIds[place]);
}

/** The ids and the types of a row. @param {number[]} row */
export function tokensOf(row) {
  return {
    ids: row.map((token) => token % vocab_size),
    typeIds: row.map((token) => Math.floor(token / vocab_size)),
  };
}

/** @typedef {{ word: string, start: number, end: number }} Word of a text, and its place there */

/** @param {string} text @returns {Word[]} */
export function wordsOf(text) {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => {
    return { word, start: index, end: index + word.length };
  });
}

/**
 * The tokens of each prompt, then those of each word beside it, cut. A string is tokenised once.
 *
 * @param {(texts: string[]) => Promise<number[][]>} encode @param {Text[]} pairs
 * @param {string | null} [_prompt] of the model's, which has none
 */
export async function idsOf(encode, pairs, _prompt) {
  const parts = pairs.map(([prompt, text]) => [prompt, ...wordsOf(text).map(({ word }) => word)]);
  const strings = [...new Set(parts.flat())];
  const ids = await encode(strings);
  const byString = new Map(strings.map((string, place) => [string, ids[place]]));
  return parts.map(([prompt, ...words]) => {
    const typed = words.flatMap((word) => markedIds(byString.get(word) ?? []));
    const row = [...BEFORE, ...checkedIds(prompt, byString.get(prompt) ?? []), ...typed];
    return [...row.slice(0, BEFORE.length + ROOM), ...BEHIND];
  });
}

/** The tokens of a word, with the type of the first. @param {number[]} ids */
function markedIds(ids) {
  return ids.map((id, place) => (place === 0 ? id + FIRST * vocab_size : id));
}

/**
 * The tokens of a prompt, which is not cut, and must leave room for a text.
 *
 * @type {(prompt: string, ids: number[]) => number[]}
 */
function checkedIds(prompt, ids) {
  if (ids.length < ROOM) return ids;
  // So many characters are never longer.
  const start = [...prompt.slice(0, 80)].slice(0, 40).join("");
  throw new LongTextError(
    `the labels "${start}…" have ${ids.length} tokens; expected less than ${ROOM}, ` +
      "which the text shares; give fewer or shorter ones",
  );
}
