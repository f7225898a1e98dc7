/** What is asked of a multi-vector embedder. */

import { MultiVectorEmbedder } from "../src/index.js";
import { collected, encoded } from "./encoded.js";

/** @import { Device } from "../index.d.ts" */
/** @import { Request } from "./server.js" */

/**
 * @param {string} path
 * @param {Device} device
 */
export function open(path, device) {
  return MultiVectorEmbedder.open(path, { device });
}

/** @type {Record<string, (embedder: MultiVectorEmbedder, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  tokenize: (embedder, { texts, prompt }) => embedder.tokenize(texts, { prompt }),
  embed_ids: async (embedder, { input_ids, prompt }) =>
    encoded((await embedder.embedIds(input_ids, { prompt })).flat()),
  embed: async (embedder, { texts, prompt }) =>
    encoded((await embedder.embed(texts, { prompt })).flat()),
  call: async (embedder, { texts, prompt }) => {
    const found = await embedder.embed(texts, { prompt });
    const answer = (/** @type {Float32Array[]} */ one) => ({
      rows: one.length,
      max_sim: MultiVectorEmbedder.maxSim(found[0], one),
    });
    return found.map(answer);
  },
  stream: async (embedder, { texts, prompt }) =>
    encoded((await collected(embedder.embedEach(texts.values(), { prompt }))).flat()),
};
