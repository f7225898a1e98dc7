/** What is asked of an embedder. */

import { Embedder } from "../src/index.js";
import { collected, encoded } from "./encoded.js";

/** @import { Device } from "../index.d.ts" */
/** @import { Request } from "./server.js" */

/**
 * @param {string} path
 * @param {Device} device
 */
export function open(path, device) {
  return Embedder.open(path, { device });
}

/** @type {Record<string, (embedder: Embedder, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  tokenize: (embedder, { texts, prompt }) => embedder.tokenize(texts, { prompt }),
  embed_ids: async (embedder, { input_ids, prompt }) =>
    encoded(await embedder.embedIds(input_ids, { prompt })),
  embed: async (embedder, { texts, prompt }) => encoded(await embedder.embed(texts, { prompt })),
  stream: async (embedder, { texts, prompt }) =>
    encoded(await collected(embedder.embedEach(texts.values(), { prompt }))),
};
