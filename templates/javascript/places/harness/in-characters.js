/** Places as the harness protocol has them. */

/** @typedef {Record<"start" | "end", number>} Place in a text */

/**
 * The same things, placed by the characters of their text, where JavaScript counts UTF-16.
 *
 * @template {Place} T
 * @param {T[]} found
 * @param {string} text
 * @returns {T[]}
 */
export function inCharacters(found, text) {
  const characters = (/** @type {number} */ unit) => [...text.slice(0, unit)].length;
  return found.map((one) => ({
    ...one,
    start: characters(one.start),
    end: characters(one.end),
  }));
}
