/** The best of many scores. */

import { checkedCount, checkedOptions } from "./model.js";

/** How many are asked for. @param {{ top?: number | null | undefined }} [options] */
export const checkedTop = (options) => checkedCount("top", checkedOptions(options).top);

/** The places of the highest scores, best first, of equal ones the first. @param {ArrayLike<number>} scores @param {number} most */
export function best(scores, most) {
  const places = Array.from(scores, (_, place) => place);
  return places.sort((a, b) => scores[b] - scores[a]).slice(0, most);
}
