/** What is asked of a classifier. */

import { Classifier } from "../src/index.js";
import { collected, encoded } from "./encoded.js";

/** @import { Device } from "../index.d.ts" */
/** @import { Request } from "./server.js" */

/**
 * @param {string} path
 * @param {Device} device
 */
export function open(path, device) {
  return Classifier.open(path, { device });
}

/** @type {Record<string, (classifier: Classifier, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  tokenize: (classifier, { texts }) => classifier.tokenize(texts),
  embed_ids: async (classifier, { input_ids }) => encoded(await classifier.scoreIds(input_ids)),
  embed: async (classifier, { texts }) => encoded(await classifier.scores(texts)),
  call: (classifier, { texts }) => classifier.classify(texts),
  stream: (classifier, { texts }) => collected(classifier.classifyEach(texts.values())),
};
