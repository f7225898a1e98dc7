/** The best of what is given, and how many of it. */

import { numberOr } from "./arguments.js";

/** A number from 1 on, or undefined where all are asked for. @param {any} top */
export function checkedTop(top) {
  if (top === undefined || top === null) return undefined;
  if (!Number.isInteger(top)) {
    throw new TypeError(`top is ${numberOr(top)}; expected a whole number`);
  }
  if (top < 1) throw new RangeError(`top is ${top}; expected 1 or more`);
  return /** @type {number} */ (top);
}

/**
 * The places of the highest scores, of equal ones the first.
 *
 * @type {(scores: ArrayLike<number>, top?: number) => number[]}
 */
export function bestOf(scores, top) {
  const places = Array.from(scores, (_, place) => place);
  return places.sort((a, b) => scores[b] - scores[a]).slice(0, top);
}
