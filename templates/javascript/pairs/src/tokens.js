/** Pairs of texts as rows of tokens. */

import { CONTRACT } from "./contract.js";
import { LongTextError } from "./errors.js";

/** @typedef {readonly [string, string]} Text what a row is made of */

/**
 * A token, or a text: `before` and `after` are tokenised with it, `limit` of its tokens are kept.
 *
 * @typedef {{ id: number | null, text: number | null, type_id: number } &
 *   { before?: string, after?: string, limit?: number }} Piece
 */

const { max_length, vocab_size, pair } = CONTRACT;
const { truncate, truncation_side } = pair;

/** What a row is joined of. @type {Piece[]} */
export const PIECES = pair.pieces;

/** The texts, in their order. */
const TEXTS = [0, 1].flatMap((place) => PIECES.filter(({ text }) => text === place));

/** The most tokens that the two texts have together. */
const ROOM = max_length - PIECES.filter(({ text }) => text === null).length;

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

/**
 * The tokens of each pair, cut and joined. Each text is tokenised once, in however many pairs it is.
 *
 * @param {(texts: string[]) => Promise<number[][]>} encode @param {Text[]} pairs
 * @param {string | null} [_prompt] pairs have none
 */
export async function idsOf(encode, pairs, _prompt) {
  const whole = pairs.map(surrounded);
  const texts = [...new Set(whole.flat())];
  const ids = await encode(texts);
  const byText = new Map(texts.map((text, place) => [text, ids[place]]));
  const idsOfOne = (/** @type {string} */ text, /** @type {number} */ place) =>
    (byText.get(text) ?? []).slice(0, TEXTS[place].limit);
  return pairs.map((pair, place) => joined(pair, whole[place].map(idsOfOne)));
}

/**
 * Each text with what the model's prompt has around it, which may share tokens with it.
 *
 * @param {Text} pair
 */
function surrounded(pair) {
  return TEXTS.map(({ before = "", after = "" }, place) => before + pair[place] + after);
}

/** @type {(pair: Text, ids: number[][]) => number[]} */
function joined(pair, ids) {
  const sizes = sizesOf(pair, ids[0].length, ids[1].length);
  return PIECES.flatMap(({ id, text, type_id }) => {
    const part = text === null ? [Number(id)] : cut(ids[text], sizes[text]);
    return part.map((token) => token + vocab_size * type_id);
  });
}

/** @type {(ids: number[], size: number) => number[]} */
function cut(ids, size) {
  return truncation_side === "right" ? ids.slice(0, size) : ids.slice(ids.length - size);
}

/**
 * How many tokens stay of each text, as the tokenizer itself would cut them.
 *
 * @type {(pair: Text, first: number, second: number) => number[]}
 */
function sizesOf(pair, first, second) {
  if (first + second <= ROOM) return [first, second];
  if (truncate === "only_first") return [ROOM - checkedSize(pair[1], second), second];
  if (truncate === "only_second") return [first, ROOM - checkedSize(pair[0], first)];
  const short = Math.min(first, second, Math.floor(ROOM / 2));
  return first <= second ? [short, ROOM - short] : [ROOM - short, short];
}

/**
 * The size of a text that is not cut, and must leave room for the other.
 *
 * @type {(text: string, size: number) => number}
 */
function checkedSize(text, size) {
  if (size < ROOM) return size;
  // So many characters are never longer.
  const start = [...text.slice(0, 80)].slice(0, 40).join("");
  const fault = `has ${size} tokens; expected less than ${ROOM}`;
  throw new LongTextError(`"${start}…" ${fault}, which the text beside it shares; shorten it`);
}
