/**
 * All that a stream gives.
 *
 * @template T
 * @param {AsyncIterable<T>} stream
 */
export async function collected(stream) {
  /** @type {T[]} */
  const found = [];
  for await (const one of stream) found.push(one);
  return found;
}
