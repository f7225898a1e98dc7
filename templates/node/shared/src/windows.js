/** Long lists and streams, a window of texts at a time. */

import { elementsOf, mostElements } from "./outputs.js";

/** @import { Signal, Vector } from "./api.d.ts" */
/** @import { Model } from "./model.js" */
/** @import { Rows } from "./rows.js" */
/** @import { Text } from "./tokens.js" */

/** The most texts whose tokens are held at a time. */
const TEXTS_AT_A_TIME = 8192;

/** The most elements that their vectors may have together, unless one alone has more. */
const ELEMENTS_AT_A_TIME = 2 ** 24;

/**
 * @typedef {(item: any, index: number) => Text[]} TextsOf what rows are made of, for an item and its
 *   place
 */

/** What `next` gives at the end. @type {IteratorReturnResult<undefined>} */
const ENDED = { done: true, value: undefined };

/**
 * Windows of texts. A source may stand still: `return` and the signal end it, and await nothing of it.
 *
 * @param {Iterable<unknown> | AsyncIterable<unknown>} items
 * @param {TextsOf} textsOf
 * @param {Signal} [signal]
 */
export function windowsOf(items, textsOf, signal) {
  /** @type {AsyncIterator<unknown> | undefined} */
  let source;
  const open = () => {
    source = /** @type {AsyncIterable<unknown>} */ (items)[Symbol.asyncIterator]();
    return source;
  };
  const isAsync = Symbol.asyncIterator in items;
  const taken = cut(isAsync ? { [Symbol.asyncIterator]: open } : items, textsOf);
  let waiting = false;
  let stop = () => {};
  const windows = {
    /** @returns {Promise<IteratorResult<Text[], undefined>>} */
    async next() {
      signal?.throwIfAborted();
      /** @type {Promise<typeof ENDED>} */
      const stopped = new Promise((resolve) => {
        stop = () => resolve(ENDED);
      });
      signal?.addEventListener("abort", stop);
      waiting = true;
      const found = await Promise.race([taken.next(), stopped]).finally(() => {
        waiting = false;
        signal?.removeEventListener("abort", stop);
      });
      waiting = found === ENDED;
      if (signal?.aborted) await windows.return();
      signal?.throwIfAborted();
      return found;
    },
    async return() {
      stop();
      const ends = Promise.all([waiting && source?.return?.(), taken.return(undefined)]);
      if (waiting) ends.catch(() => {});
      else await ends;
      return ENDED;
    },
    [Symbol.asyncIterator]: () => windows,
  };
  return windows;
}

/**
 * @param {Iterable<unknown> | AsyncIterable<unknown>} items
 * @param {TextsOf} textsOf
 * @returns {AsyncGenerator<Text[], undefined>}
 */
async function* cut(items, textsOf) {
  /** @type {Text[]} */
  let window = [];
  let index = 0;
  const most = textsAtATime();
  const isFull = (/** @type {Text} */ text) => window.push(text) === most;
  const taken = () => window.splice(0);
  // Of what is not asynchronous a promise is no text: nothing is awaited.
  if (Symbol.asyncIterator in items) {
    for await (const item of items)
      for (const text of textsOf(item, index++)) if (isFull(text)) yield taken();
  } else {
    for (const item of items)
      for (const text of textsOf(item, index++)) if (isFull(text)) yield taken();
  }
  window = taken();
  if (window.length > 0) yield window;
}

function textsAtATime() {
  return Math.max(1, Math.min(TEXTS_AT_A_TIME, Math.floor(ELEMENTS_AT_A_TIME / mostElements())));
}

/**
 * @typedef {object} Course how a call goes on
 * @property {string | null} prompt
 * @property {Signal | undefined} [signal]
 * @property {((done: number) => void) | undefined} [progress]
 * @property {number | undefined} [top] the most labels or tokens of a text
 */

/**
 * Run windows one after another; the next one is tokenised while one runs.
 *
 * @template T
 * @param {Pick<Model, "pack" | "run">} model
 * @param {ReturnType<typeof windowsOf>} windows
 * @param {Course} course
 * @param {(elements: Vector) => T} vectorOf as `vectorsOf` has it
 * @returns {AsyncGenerator<T[]>} the vectors of each window
 */
export async function* vectorsOfEach(model, windows, { prompt, signal, progress }, vectorOf) {
  let done = 0;
  const proceed = (/** @type {number} */ count) => {
    done += count;
    progress?.(done);
    signal?.throwIfAborted();
  };
  const takeNext = () => {
    const rows = windows.next().then(({ value }) => value && model.pack(value, prompt));
    // Awaited when its turn comes; until then it is nobody's failure.
    rows.catch(() => {});
    return rows;
  };
  let next = takeNext();
  try {
    for (let rows = await next; rows; rows = await next) {
      signal?.throwIfAborted();
      next = takeNext();
      yield await vectorsOf(model, rows, prompt, vectorOf, { proceed });
    }
  } finally {
    await windows.return();
    await next.catch(() => {});
  }
}

/**
 * A vector for each row.
 *
 * @template T
 * @param {Pick<Model, "run">} model
 * @param {Rows} rows
 * @param {string | null} prompt
 * @param {(elements: Vector) => T} vectorOf makes one of what the graph gives for a row, in memory
 *   that the rows of a batch share
 * @param {object} [how]
 * @param {(count: number) => void} [how.proceed] called with the rows of each batch that has run;
 *   what it throws ends the run
 * @param {number} [how.budget] the most tokens of a batch
 */
export async function vectorsOf(model, rows, prompt, vectorOf, { proceed, budget } = {}) {
  /** @type {T[]} */
  const vectors = new Array(rows.length);
  /** @type {Parameters<Model["run"]>[2]} */
  const take = (places, batch) => {
    for (const [row, place] of places.entries()) {
      vectors[place] = vectorOf(elementsOf(batch, row));
    }
    proceed?.(places.length);
  };
  await model.run(rows, prompt, take, budget);
  return vectors;
}
