/** What is asked of a sparse embedder. */

import { CONTRACT } from "../src/contract.js";
import { SparseEmbedder } from "../src/index.js";
import { collected, encoded } from "./encoded.js";

/** @import { Device, SparseVector } from "../index.d.ts" */
/** @import { Request } from "./server.js" */

/**
 * @param {string} path
 * @param {Device} device
 */
export function open(path, device) {
  return SparseEmbedder.open(path, { device });
}

/** @type {Record<string, (embedder: SparseEmbedder, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  tokenize: (embedder, { texts, prompt }) => embedder.tokenize(texts, { prompt }),
  embed_ids: async (embedder, { input_ids, prompt }) =>
    encoded((await embedder.embedIds(input_ids, { prompt })).map(filled)),
  embed: async (embedder, { texts, prompt }) =>
    encoded((await embedder.embed(texts, { prompt })).map(filled)),
  call: async (embedder, { texts, prompt, top }) => {
    const vectors = await embedder.embed(texts, { prompt });
    const tokens = await Promise.all(vectors.map((vector) => embedder.tokens(vector, { top })));
    return tokens.map((some) => some.map(({ token, weight }) => ({ token, score: weight })));
  },
  stream: async (embedder, { texts, prompt }) =>
    encoded((await collected(embedder.embedEach(texts.values(), { prompt }))).map(filled)),
};

/**
 * All elements of a vector, as the protocol has them.
 *
 * @param {SparseVector} vector
 */
function filled({ indices, values }) {
  const elements = new Float32Array(CONTRACT.output.dimension);
  for (const [place, index] of indices.entries()) elements[index] = values[place];
  return elements;
}
