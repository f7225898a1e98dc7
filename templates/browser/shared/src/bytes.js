/** The bytes of a model file, from wherever they come. */

import { ModelError } from "./errors.js";

/** @typedef {string | Blob | ArrayBuffer} Content an address, or what lies there */

/** Bytes in their order, as they come. */
export class Bytes {
  #chunks;
  /** Those that have come and are not taken. @type {Uint8Array} */
  #come = new Uint8Array();
  /** How many are taken. */
  position = 0;

  /** @param {AsyncGenerator<Uint8Array>} chunks */
  constructor(chunks) {
    this.#chunks = chunks;
  }

  /** So many that come next, or fewer at the end; they are not taken. @param {number} length */
  async next(length) {
    const parts = this.#come.length > 0 ? [this.#come] : [];
    for (let size = this.#come.length; size < length; ) {
      const { value, done } = await this.#chunks.next();
      if (done) break;
      parts.push(value);
      size += value.length;
    }
    // One chunk may be the whole file, of which there are to be no copies.
    if (parts.length > 1) this.#come = joined(parts);
    else if (parts.length === 1) this.#come = parts[0];
    return this.#come.subarray(0, length);
  }

  /** Take some of those that have come. @param {number} length */
  take(length) {
    const taken = this.#come.subarray(0, length);
    this.#come = this.#come.subarray(length);
    this.position += length;
    return taken;
  }

  /** Take all: what fits into so many bytes, and how many come. @param {number} most @param {(loaded: number) => void} tell */
  async rest(most, tell) {
    let { length } = this.#come;
    const graph = length < most ? new Uint8Array(most) : this.#come.subarray(0, most);
    if (length < most) graph.set(this.#come);
    tell(this.position + Math.min(length, most));
    for await (const chunk of this.#chunks) {
      if (length < most) graph.set(chunk.subarray(0, most - length), length);
      length += chunk.length;
      tell(this.position + Math.min(length, most));
    }
    return { graph, length };
  }

  /** Let go of what has not come: a download ends. */
  async end() {
    await this.#chunks.return(undefined);
  }
}

/** @param {Content} content @returns {AsyncGenerator<Uint8Array>} */
export async function* chunksOf(content) {
  if (content instanceof ArrayBuffer) {
    yield new Uint8Array(content);
    return;
  }
  const stream = typeof content === "string" ? await download(content) : content.stream();
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(unread);
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @param {string} address */
async function download(address) {
  const response = await fetch(address).catch(unread);
  const { body, ok, status, statusText } = response;
  return ok && body ? body : unread(new Error(`${status} ${statusText}`.trim()));
}

/** @param {Error} cause @returns {never} */
function unread(cause) {
  const remedy = "give the address of a baked .onnx file";
  throw new ModelError(`cannot be read (${cause.message}); ${remedy}`, { cause });
}

/** @param {Uint8Array[]} parts */
function joined(parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}
