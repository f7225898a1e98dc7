/** The words of texts, and which tokens each has. */

import { SETTINGS } from "./contract.js";
import { LongTextError } from "./errors.js";

/** A word, `text.slice(start, end)`, and its tokens among those of the text. @typedef {Record<"start" | "end" | "first" | "last", number>} Word */
/** Each token's characters, and its word. @typedef {{ offsets: number[][], words: (number | null | undefined)[] }} Encoding */

/** What a tokenizer treats by itself: a gap and what follows up to the next one. */
const CHUNK = /[ \t\n\r]*[^ \t\n\r]+(?:[ \t\n\r]+$)?/g;
const GAP = /[ \t\n\r]/;
/** No word ends in it. */
const WHITE_SPACE = /\p{White_Space}/u;

/** The words of each text, and how many tokens it has. @param {(texts: string[]) => Promise<Encoding[]>} encode without special tokens @param {string[]} texts */
export async function wordsOf(encode, texts) {
  const chunks = texts.map((text) => [...text.matchAll(CHUNK)]);
  const encodings = (await encode(chunks.flat().map(([chunk]) => chunk))).values();
  return chunks.map((found) => {
    /** @type {Word[]} */
    const words = [];
    let tokens = 0;
    for (const { 0: chunk, index } of found) {
      const encoding = /** @type {Encoding} */ (encodings.next().value);
      words.push(...wordsIn(chunk, encoding, index, tokens));
      tokens += encoding.words.length;
    }
    return { words, tokens };
  });
}

/**
 * The words of a chunk that begins at a place of its text, behind so many tokens.
 *
 * @type {(chunk: string, encoding: Encoding, begin: number, before: number) => Word[]}
 */
function wordsIn(chunk, { offsets, words }, begin, before) {
  // tokenizers counts characters, where JavaScript counts UTF-16.
  const units = [0];
  for (const { length } of chunk) units.push(units[units.length - 1] + length);
  const gap = chunk.search(/[^ \t\n\r]/);
  const end = endWithout(GAP, chunk, gap, chunk.length);
  let found = [];
  for (let first = 0, last = 0; first < words.length; first = last) {
    while (last < words.length && words[last] === words[first]) last++;
    const [start, stop] = [units[offsets[first][0]], units[offsets[last - 1][1]]];
    // Tokens of a gap are no word's, unless the tokenizer lets a word begin with them.
    if (start < end && stop > gap) found.push({ first, last, start: Math.max(gap, start) });
  }
  if (SETTINGS.words === "gaps" && found.length > 0) {
    found = [{ first: found[0].first, last: found[found.length - 1].last, start: gap }];
  }
  const placed = found.map(({ first, last, start }, place) => {
    const stop = endWithout(WHITE_SPACE, chunk, start, found[place + 1]?.start ?? end);
    return { start: begin + start, end: begin + stop, first: before + first, last: before + last };
  });
  return placed.filter(({ start, end }) => start < end);
}

/** Where a part of a text ends without the spaces behind it. @type {(space: RegExp, text: string, start: number, end: number) => number} */
function endWithout(space, text, start, end) {
  let last = end;
  while (last > start && space.test(text[last - 1])) last--;
  return last;
}

/** Refuse a text of more tokens than there is room for. @type {(text: string, tokens: number, room: number) => void} */
export function checkRoom(text, tokens, room) {
  if (tokens <= room) return;
  const fault = `"${text.slice(0, 40)}…" has ${tokens} tokens, ${room} fit`;
  throw new LongTextError(`${fault}; give it in parts`);
}

/** Refuse a text of which the graph had other tokens, as special tokens may take white space. @type {(text: string, tokens: number, found: number) => void} */
export function checkTokens(text, tokens, found) {
  if (tokens !== found && text.trim() !== "") {
    throw new RangeError(`"${text.slice(0, 40)}…": take special tokens out of it`);
  }
}
