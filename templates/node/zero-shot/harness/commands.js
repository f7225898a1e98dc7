/** What is asked of a zero-shot classifier. */

import { ZeroShotClassifier } from "../src/index.js";
import { collected } from "./encoded.js";
import { PAIR_COMMANDS } from "./pair-commands.js";

/** @import { Device } from "../index.d.ts" */
/** @import { Request } from "./server.js" */

/**
 * @param {string} path
 * @param {Device} device
 */
export function open(path, device) {
  return ZeroShotClassifier.open(path, { device });
}

/** @type {Record<string, (classifier: ZeroShotClassifier, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  ...PAIR_COMMANDS,
  call: (classifier, { texts, labels, template, multi_label: multiLabel }) =>
    classifier.classify(texts, labels, { template, multiLabel }),
  stream: (classifier, { texts, labels, template, multi_label: multiLabel }) =>
    collected(classifier.classifyEach(texts.values(), labels, { template, multiLabel })),
};
