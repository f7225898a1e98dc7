/** Streams of texts, in and out. */

/// <reference types="node" />

/**
 * Take texts as they are needed, and give what a call gives for each, in their order. Each window is a
 * call of its own, so memory does not grow with the stream; several calls, of as many models, run side
 * by side.
 *
 * @param calls such as `(texts) => embedder.embed(texts)`
 * @param options.window texts of a call, by default 8,192
 * @param options.signal ends the stream, also while texts are awaited
 * @throws {InvalidTextError} in the place of its window's results: a text is not valid Unicode
 */
export function each<T>(
  calls: Call<T> | readonly Call<T>[],
  texts: (Iterable<string> & object) | AsyncIterable<string>,
  options?: { readonly window?: number | undefined; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<T, void, undefined>;

/** What gives a result for each text. */
export type Call<T> = (texts: string[]) => Promise<readonly T[]>;
