/** The best of many scores. */

/** The places of the highest scores, best first, of equal ones the first. @param {ArrayLike<number>} scores @param {number | null} [top] */
export function best(scores, top) {
  const most = top ?? Infinity;
  if (!(most >= 1)) throw new RangeError(`top is ${top}; expected 1 or more`);
  const places = Array.from(scores, (_, place) => place);
  return places.sort((a, b) => scores[b] - scores[a]).slice(0, most);
}
