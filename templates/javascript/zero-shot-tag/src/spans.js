/** Spans of words: the parts of a text that hold them, and which of them are taken. */

import { CONTRACT } from "./contract.js";

/** @import { Vector } from "../index.d.ts" */

/** The most words of a span, and of a part of a text. @type {{ width: number, most_words: number }} */
const { width, most_words } = CONTRACT.settings;

/**
 * Words of a text that go through the model at once, by their places: `first` to before `last`. The
 * spans that begin at `begin` to before `end` are taken from it.
 *
 * @typedef {Record<"first" | "last" | "begin" | "end", number>} Part
 */

/**
 * A span of the words `first` to before `last`, with the place of its label.
 *
 * @typedef {Record<"score" | "first" | "last" | "label", number>} Placed
 */

/**
 * Cut words into parts, so that each span lies whole in one of them. A word with more tokens than there
 * is room stands alone.
 *
 * @param {number[]} sizes the tokens of each word
 * @param {number} room for the tokens of a part
 */
export function partsOf(sizes, room) {
  /** @type {Part[]} */
  const parts = [];
  let first = 0;
  let last = 0;
  while (last < sizes.length) {
    last = first;
    let tokens = 0;
    const most = Math.min(sizes.length, first + most_words);
    while (last < most && (last === first || tokens + sizes[last] <= room)) tokens += sizes[last++];
    const before = parts.at(-1);
    const begin = before ? Math.floor((before.last + first + 1) / 2) : 0;
    if (before) before.end = begin;
    parts.push({ first, last, begin, end: sizes.length });
    first = Math.max(first + 1, last - 2 * width);
  }
  return parts;
}

/**
 * The spans that are taken from a part and have more than the least score.
 *
 * @param {Vector} scores of each word, label and number of words more
 * @param {Part} part @param {number} labels how many there are @param {number} least
 */
export function* spansAbove(scores, { first, begin, end }, labels, least) {
  const perWord = labels * width;
  for (let place = (begin - first) * perWord; place < (end - first) * perWord; place++) {
    const score = scores[place];
    if (score > least) {
      const word = first + Math.floor(place / perWord);
      const label = Math.floor(place / width) % labels;
      yield { score, first: word, last: word + (place % width) + 1, label };
    }
  }
}

/**
 * The best span, then the best of those that share no word with it, and so on; in their order.
 *
 * @param {Placed[]} spans
 */
export function bestOf(spans) {
  const taken = new Set();
  return spans
    .toSorted(
      (a, b) => b.score - a.score || a.first - b.first || a.last - b.last || a.label - b.label,
    )
    .filter(({ first, last }) => {
      const words = Array.from({ length: last - first }, (_, more) => first + more);
      if (words.some((word) => taken.has(word))) return false;
      for (const word of words) taken.add(word);
      return true;
    })
    .sort((a, b) => a.first - b.first);
}
