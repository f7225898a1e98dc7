/** Words that stand together, by their labels. */

import { mistyped } from "./arguments.js";
import { CONTRACT } from "./contract.js";

/** @import { Aggregation, Span, Vector } from "../index.d.ts" */

/**
 * What a label says of a word.
 *
 * @typedef {object} Mark
 * @property {string} name of the span; empty where the word is in none
 * @property {boolean} begins whether a span begins with the word
 * @property {boolean} ends whether it ends with it
 */

/** Of each label. @type {Mark[]} */
const MARKS = CONTRACT.settings.marks;

/**
 * A word of a text with its best label, by its place.
 *
 * @typedef {object} LabelledWord
 * @property {number} start
 * @property {number} end
 * @property {number} label
 * @property {number} score
 */

/** A word's scores, of its tokens'. @type {Record<Aggregation, (rows: Vector[]) => ArrayLike<number>>} */
const AGGREGATIONS = {
  first: ([first]) => first,
  mean: (rows) => Array.from(rows[0], (_, label) => meanOf(rows.map((scores) => scores[label]))),
  max: (rows) => {
    const largest = rows.map((scores) => Math.max(...scores));
    return rows[largest.indexOf(Math.max(...largest))];
  },
};

/** @param {unknown} aggregation @returns {Aggregation} */
export function checkedAggregation(aggregation) {
  if (typeof aggregation !== "string") {
    throw mistyped("aggregation", aggregation, "a string");
  }
  if (!Object.hasOwn(AGGREGATIONS, aggregation)) {
    const known = Object.keys(AGGREGATIONS).join(", ");
    throw new RangeError(`unknown aggregation "${aggregation}"; choose one of: ${known}`);
  }
  return /** @type {Aggregation} */ (aggregation);
}

/** A word's best label, of its tokens' scores. @param {Vector[]} rows @param {Aggregation} aggregation */
export function bestLabel(rows, aggregation) {
  const scores = AGGREGATIONS[aggregation](rows);
  let label = 0;
  for (let other = 1; other < scores.length; other++) {
    if (scores[other] > scores[label]) label = other;
  }
  return { label, score: scores[label] };
}

/**
 * Neighbours whose labels have one name make a span, unless one begins or ends between them.
 *
 * @type {(text: string, words: LabelledWord[]) => Span[]}
 */
export function spansOf(text, words) {
  /** @type {{ label: string, scores: number[], start: number, end: number }[]} */
  const spans = [];
  let ended = true;
  for (const { start, end, label, score } of words) {
    const { name, begins, ends } = MARKS[label];
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
