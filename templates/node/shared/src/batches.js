/** Which rows run together. */

/** @import { Rows } from "./rows.js" */

/** The most tokens of one batch, padding included. */
export const TOKENS_PER_BATCH = { cpu: 512, cuda: 16_384 };

/**
 * Group rows of similar length, longest first, so that memory is asked for once.
 *
 * @param {Rows} rows
 * @param {number} budget the most tokens of a batch, padding included; a longer row stands alone
 * @returns {Generator<number[]>} the rows of each batch, by their places in `rows`
 */
export function* batches(rows, budget) {
  const lengths = Array.from({ length: rows.length }, (_, place) => rows.lengthOf(place));
  const places = [...lengths.keys()].sort((a, b) => lengths[b] - lengths[a]);
  for (let start = 0; start < places.length; ) {
    const end = start + mostRows(lengths[places[start]], budget);
    yield places.slice(start, end);
    start = end;
  }
}

/**
 * How many rows as long as the longest fit into one batch.
 *
 * @param {number} longest
 * @param {number} budget
 */
function mostRows(longest, budget) {
  const width = Math.max(1, longest);
  // Layers hold as much as there are tokens, attention as much as their square.
  return Math.max(1, Math.floor(Math.min(budget / width, (512 * budget) / width ** 2)));
}
