/** What is asked of a reranker. */

import { Reranker } from "../src/index.js";
import { collected } from "./encoded.js";
import { PAIR_COMMANDS } from "./pair-commands.js";

/** @import { Device } from "../index.d.ts" */
/** @import { Request } from "./server.js" */

/**
 * @param {string} path
 * @param {Device} device
 */
export function open(path, device) {
  return Reranker.open(path, { device });
}

/** @type {Record<string, (reranker: Reranker, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  ...PAIR_COMMANDS,
  call: (reranker, { query, documents }) => reranker.rerank(query, documents),
  stream: async (reranker, { query, documents }) =>
    (await collected(reranker.scoreEach(query, documents.values()))).map((score, index) => ({
      index,
      score,
    })),
};
