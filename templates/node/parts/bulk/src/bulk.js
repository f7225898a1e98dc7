/** Streams of texts, window by window: bulk.d.ts documents it. */

import { checkedList, checkedOptions, checkedText, mistyped, numberOr } from "./arguments.js";

/** @import * as api from "../bulk.d.ts" */

/** @type {typeof api.each} */
export function each(calls, texts, options) {
  const list = checkedList(texts, Symbol.asyncIterator, Symbol.iterator);
  const known = checkedOptions(options, "{ window: 8192 }", ["window", "signal"]);
  const { window = 8192, signal } = known;
  if (!Number.isInteger(window)) {
    throw new TypeError(`window is ${numberOr(window)}; expected a whole number`);
  }
  if (window < 1) throw new RangeError(`window is ${window}; expected 1 or more`);
  if (signal && typeof signal.throwIfAborted !== "function") {
    throw mistyped("signal", signal, "an AbortSignal");
  }
  const each = [calls].flat();
  const other = each.find((call) => typeof call !== "function");
  if (other !== undefined || each.length === 0) {
    throw mistyped("the call", other, "a function of texts");
  }
  signal?.throwIfAborted();
  return resultsOf(each, list, window, signal);
}

/**
 * @template T
 * @param {((texts: string[]) => Promise<Iterable<T>>)[]} calls @param {any} texts
 * @param {number} size @param {AbortSignal | undefined} signal
 */
async function* resultsOf(calls, texts, size, signal) {
  const isAsync = Symbol.asyncIterator in texts;
  const source = texts[isAsync ? Symbol.asyncIterator : Symbol.iterator]();
  let [index, ended] = [0, false];
  const take = async () => {
    const window = [];
    while (window.length < size && !ended) {
      // Of what is not asynchronous a promise is no text: nothing is awaited.
      const { done, value } = isAsync ? await source.next() : source.next();
      if (done) ended = true;
      else window.push(checkedText(value, "texts", index++));
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
  const start = (/** @type {typeof calls[number]} */ call) => {
    taken = taken.then(take);
    const results = taken.then((window) => (window.length > 0 ? call(window) : undefined));
    // Awaited in its turn; until then it is nobody's failure.
    results.catch(() => {});
    return results;
  };
  try {
    const running = calls.map(start);
    for (let turn = 0; ; turn = (turn + 1) % calls.length) {
      /** @type {Iterable<T> | undefined} */
      const results = await Promise.race([running[turn], aborted]);
      if (results === undefined) return;
      for (const result of results) {
        yield result;
        signal?.throwIfAborted();
      }
      running[turn] = start(calls[turn]);
    }
  } finally {
    signal?.removeEventListener("abort", abort);
    ended = true;
    // Not awaited: a source that stands still would keep whoever leaves.
    Promise.resolve(source.return?.()).catch(() => {});
  }
}
