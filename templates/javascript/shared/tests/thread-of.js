/** Models without a file. */

import { Thread } from "../src/model.js";

/**
 * What stands in the place of a thread, and gives this for what it is asked.
 *
 * @param {(method: string, ...args: any[]) => Promise<unknown>} ask
 */
export function threadOf(ask) {
  const { vectors, run, tokenize } = Thread.prototype;
  const call = (/** @type {() => unknown} */ work) => work();
  return /** @type {any} */ ({ facts: {}, ask, call, vectors, run, tokenize });
}
