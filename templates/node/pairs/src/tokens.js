/** Pairs of texts as rows of tokens. */

import { CONTRACT } from "./contract.js";
import { LongTextError } from "./errors.js";

/** @import { Pair } from "./contract.js" */

/** @typedef {readonly [string, string]} Text what a row is made of */

const { pieces, truncate, truncation_side } = /** @type {Pair} */ (CONTRACT.pair);
const { max_length, vocab_size } = CONTRACT;

/** The most tokens that the two texts have together. */
const ROOM = max_length - pieces.filter(({ text }) => text === null).length;

/**
 * One number a token: its id, and so many times the vocabulary's size as its type says.
 *
 * @param {readonly number[]} ids
 * @param {readonly number[]} typeIds
 */
export function rowOf(ids, typeIds) {
  return ids.map((id, place) => id + vocab_size * typeIds[place]);
}

/**
 * The ids and the types of a row.
 *
 * @param {number[]} row
 */
export function tokensOf(row) {
  return {
    ids: row.map((token) => token % vocab_size),
    typeIds: row.map((token) => Math.floor(token / vocab_size)),
  };
}

/**
 * The tokens of each pair, cut and joined. Each text is tokenised once, in however many pairs it is.
 *
 * @param {(texts: string[]) => Promise<number[][]>} idsOf
 * @param {Text[]} pairs
 * @param {string | null} _prompt
 */
export async function rowsOf(idsOf, pairs, _prompt) {
  const texts = [...new Set(pairs.flat())];
  const ids = await idsOf(texts);
  const places = new Map(texts.map((text, place) => [text, place]));
  const idsOfOne = (/** @type {string} */ text) => ids[/** @type {number} */ (places.get(text))];
  return pairs.map((pair) => joined(pair, pair.map(idsOfOne)));
}

/**
 * @param {Text} pair
 * @param {number[][]} ids of both texts
 */
function joined(pair, ids) {
  const sizes = sizesOf(pair, ids[0].length, ids[1].length);
  return pieces.flatMap(({ id, text, type_id }) => {
    const part = text === null ? [Number(id)] : cut(ids[text], sizes[text]);
    return part.map((token) => token + vocab_size * type_id);
  });
}

/**
 * @param {number[]} ids
 * @param {number} size
 */
function cut(ids, size) {
  return truncation_side === "right" ? ids.slice(0, size) : ids.slice(ids.length - size);
}

/**
 * How many tokens stay of each text, as the tokenizer itself would cut them.
 *
 * @param {Text} pair
 * @param {number} first
 * @param {number} second
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
 * @param {string} text
 * @param {number} size
 */
function checkedSize(text, size) {
  if (size < ROOM) return size;
  // So many characters are never longer.
  const start = [...text.slice(0, 80)].slice(0, 40).join("");
  const fault = `has ${size} tokens; expected less than ${ROOM}`;
  throw new LongTextError(`"${start}…" ${fault}, which the text beside it shares; shorten it`);
}
