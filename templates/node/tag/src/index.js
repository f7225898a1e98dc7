/** Find spans of texts: index.d.ts documents it. */

import { SETTINGS } from "./contract.js";
import { checkedOptions, checkedTexts, Model } from "./model.js";
import { checkRoom, checkTokens } from "./words.js";

/** @import * as api from "../index.d.ts" */
/** @import { Word } from "./words.js" */

export * from "./errors.js";
export { Model };

/** What a token may be. @type {readonly string[]} */
const LABELS = Object.freeze(SETTINGS.labels);

/** The span of each label, empty where it is none, and whether one begins or ends with the word. @type {{ name: string, begins: boolean, ends: boolean }[]} */
const MARKS = SETTINGS.marks;

/** A word's scores, of those of its tokens. @type {Record<api.Aggregation, (rows: Float32Array[]) => ArrayLike<number>>} */
const AGGREGATIONS = {
  first: ([first]) => first,
  mean: (rows) => LABELS.map((_, label) => meanOf(rows.map((scores) => scores[label]))),
  max: (rows) => {
    const largest = rows.map((scores) => Math.max(...scores));
    return rows[largest.indexOf(Math.max(...largest))];
  },
};

/** @implements {api.Tagger} */
export class Tagger extends Model {
  labels = LABELS;

  /** @type {api.Tagger["tag"]} */
  async tag(texts, options) {
    const aggregation = checkedOptions(options).aggregation ?? "first";
    if (!Object.hasOwn(AGGREGATIONS, aggregation)) {
      throw new RangeError(`aggregation is "${aggregation}"; expected first, mean or max`);
    }
    const given = checkedTexts(texts);
    return this._during(async (thread) => {
      const found = await this._words(given, thread);
      for (const [place, { tokens }] of found.entries()) {
        checkRoom(given[place], tokens, SETTINGS.room);
      }
      /** @type {(scores: Float32Array[], row: unknown, place: number) => api.Span[]} */
      const kept = (scores, _, place) => {
        const { words, tokens } = found[place];
        checkTokens(given[place], tokens, scores.length);
        return spansOf(given[place], words, scores, aggregation);
      };
      return this._results(given, kept, thread);
    });
  }
}

/**
 * Neighbours whose best labels have one name make a span, unless one begins or ends between them.
 *
 * @type {(text: string, words: Word[], scores: Float32Array[], way: api.Aggregation) => api.Span[]}
 */
function spansOf(text, words, scores, way) {
  /** @type {{ label: string, scores: number[], start: number, end: number }[]} */
  const spans = [];
  let ended = true;
  for (const { start, end, first, last } of words) {
    const row = Array.from(AGGREGATIONS[way](scores.slice(first, last)));
    const score = Math.max(...row);
    const { name, begins, ends } = MARKS[row.indexOf(score)];
    if (ended || begins || spans[spans.length - 1].label !== name) {
      spans.push({ label: name, scores: [], start, end });
    }
    const span = spans[spans.length - 1];
    span.scores.push(score);
    span.end = end;
    ended = ends;
  }
  return spans
    .filter(({ label }) => label !== "")
    .map(({ label, scores, start, end }) => {
      return { label, score: meanOf(scores), text: text.slice(start, end), start, end };
    });
}

/** @param {number[]} numbers */
function meanOf(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
