/** The words of texts, and how many tokens each has. */

import { chunkOf, moved, unitsOf } from "./chunk.js";
import { CONTRACT } from "./contract.js";

/** @import { Chunk, Encoding } from "./chunk.js" */

/** A gap and what follows up to the next one, each begun where the last one ended. */
const CHUNK = /[ \t\n\r]*[^ \t\n\r]+(?:[ \t\n\r]+$)?/gy;

/** Whether words end at gaps alone; else also where the tokenizer ends them. */
const BY_GAPS = CONTRACT.settings.words === "gaps";

/** Characters of its neighbours that a piece of a chunk has on each side, at most. */
const CONTEXT = 64;

/** @typedef {(strings: string[]) => Promise<Encoding[]>} Encode gives tokens without special ones */

/**
 * The chunks of each text; of equal ones the tokenizer sees one.
 *
 * @param {Encode} encode @param {string[]} texts
 * @param {number} room what has as many tokens is cut into pieces that have less
 */
export async function chunksOf(encode, texts, room) {
  const found = texts.map((text) => [...text.matchAll(CHUNK)]);
  const strings = [...new Set(found.flat().map(([string]) => string))];
  const encodings = await encode(strings);
  /** @type {Map<string, Chunk[]>} */
  const chunks = new Map();
  for (const [place, string] of strings.entries()) {
    const chunk = chunkOf(string, encodings[place], BY_GAPS);
    chunks.set(string, chunk.tokens < room ? [chunk] : await piecesOf(encode, string, room));
  }
  return found.map((text) =>
    text.flatMap(({ 0: string, index }) =>
      /** @type {Chunk[]} */ (chunks.get(string)).map((chunk) => moved(chunk, index)),
    ),
  );
}

/**
 * Halves of a chunk with which a text begins, and halves of these, each with some of its neighbours as
 * context. At gaps alone a piece is a word, so it has none.
 *
 * @type {(encode: Encode, chunk: string, room: number) => Promise<Chunk[]>}
 */
async function piecesOf(encode, chunk, room) {
  const shared = BY_GAPS ? 0 : Math.min(CONTEXT, Math.floor(room / 8));
  const units = unitsOf(chunk);
  const length = units.length - 1;
  /** @type {Chunk[]} */
  const pieces = [];
  const halves = [{ first: 0, last: length }];
  for (let half = halves.pop(); half; half = halves.pop()) {
    const { first, last } = half;
    const start = units[Math.max(0, first - shared)];
    const string = chunk.slice(start, units[Math.min(length, last + shared)]);
    const [encoding] = await encode([string]);
    const piece = chunkOf(string, encoding, BY_GAPS);
    if (piece.tokens < room || last - first === 1) {
      pieces.push({ ...moved(piece, start), inner: units[first] });
    } else {
      const middle = Math.floor((first + last) / 2);
      halves.push({ first: middle, last }, { first, last: middle });
    }
  }
  return pieces;
}
