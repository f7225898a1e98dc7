/** Pairs of texts as rows of token ids. */

import { MAX_LENGTH, PAIR, VOCAB_SIZE } from "./contract.js";
import { LongTextError } from "./errors.js";

/** @typedef {readonly [string, string]} Pair */

/** What a row is joined of: special tokens, and the two texts. @type {any[]} */
const PIECES = PAIR.pieces;
const TEXTS = [0, 1].map((text) => PIECES.find((piece) => piece.text === text));
/** Tokens that the two texts share. */
const ROOM = MAX_LENGTH - PIECES.length + 2;

/** One number a token: its id, and so many times the vocabulary's size as its type says. @type {(ids: number[][], types: number[][]) => number[][]} */
export function packed(ids, types) {
  return ids.map((row, pair) => row.map((id, place) => id + VOCAB_SIZE * types[pair][place]));
}

/** The tokens of each pair, cut and joined; a text in several pairs is encoded once. @param {(texts: string[]) => Promise<number[][]>} encode @param {Pair[]} pairs */
export async function rowsOf(encode, pairs) {
  // What a model's prompt has around a text may share tokens with it.
  const around = (/** @type {string} */ text, /** @type {number} */ place) =>
    `${TEXTS[place].before ?? ""}${text}${TEXTS[place].after ?? ""}`;
  const whole = pairs.map((pair) => pair.map(around));
  const texts = [...new Set(whole.flat())];
  const rows = await encode(texts);
  const byText = new Map(texts.map((text, place) => [text, rows[place]]));
  return pairs.map((pair, row) => {
    const ids = whole[row].map((text) => byText.get(text) ?? []);
    return joined(pair, ids);
  });
}

/** @param {Pair} pair @param {number[][]} ids */
function joined(pair, ids) {
  const texts = ids.map((row, place) => row.slice(0, TEXTS[place].limit));
  const sizes = sizesOf(pair, texts[0].length, texts[1].length);
  const begins = texts.map(({ length }, text) =>
    PAIR.truncation_side === "right" ? 0 : length - sizes[text],
  );
  const tokens = PIECES.flatMap(({ id, text, type_id }) => {
    const part = text === null ? [id] : texts[text].slice(begins[text], begins[text] + sizes[text]);
    return part.map((/** @type {number} */ token) => token + VOCAB_SIZE * type_id);
  });
  return Uint32Array.from(tokens);
}

/** How many tokens stay of each text, as the tokenizer itself would cut them. @type {(pair: Pair, first: number, second: number) => number[]} */
function sizesOf(pair, first, second) {
  if (first + second <= ROOM) return [first, second];
  if (PAIR.truncate === "longest_first") {
    const short = Math.min(first, second, Math.floor(ROOM / 2));
    return first <= second ? [short, ROOM - short] : [ROOM - short, short];
  }
  const isFirst = PAIR.truncate === "only_first";
  const [text, size] = isFirst ? [pair[1], second] : [pair[0], first];
  if (size < ROOM) return isFirst ? [ROOM - size, size] : [size, ROOM - size];
  const fault = `"${text.slice(0, 40)}…" has ${size} tokens`;
  throw new LongTextError(`${fault}; shorten it to less than ${ROOM}`);
}
