/** Streams of texts, window by window: bulk.d.ts documents it. */

import { checkedOptions, checkedText } from "./model.js";

/** @import * as api from "../bulk.d.ts" */

/** @type {typeof api.each} */
export async function* each(calls, texts, options) {
  const { window: size = 8192, signal } = checkedOptions(options);
  if (!(size >= 1)) throw new RangeError(`window is ${size}; expected 1 or more`);
  const all = [calls].flat();
  if (all.length === 0) throw new RangeError("calls are none; give at least one");
  signal?.throwIfAborted();
  const source =
    Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
  let [index, ended] = [0, false];
  const take = async () => {
    const window = [];
    while (window.length < size && !ended) {
      const { done, value } = await source.next();
      if (done) ended = true;
      else window.push(checkedText(value, `texts[${index}]`, index++));
    }
    return window;
  };
  let abort = () => {};
  const aborted = new Promise((_, reject) => {
    abort = () => reject(signal?.reason);
    signal?.addEventListener("abort", abort);
  });
  aborted.catch(() => {});
  /** The last window that is taken, or still to come. @type {Promise<string[]>} */
  let taken = Promise.resolve([]);
  const start = (/** @type {api.Call<any>} */ call) => {
    taken = taken.then(take);
    const results = taken.then((window) => (window.length > 0 ? call(window) : undefined));
    // Awaited in its turn; until then it is nobody's failure.
    results.catch(() => {});
    return results;
  };
  try {
    const running = all.map(start);
    for (let turn = 0; ; turn = (turn + 1) % all.length) {
      const results = await Promise.race([running[turn], aborted]);
      if (results === undefined) return;
      for (const result of results) {
        yield result;
        signal?.throwIfAborted();
      }
      running[turn] = start(all[turn]);
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    ended = true;
    // Not awaited: a source that stands still would keep whoever leaves.
    Promise.resolve(source.return?.()).catch(() => {});
  }
}
