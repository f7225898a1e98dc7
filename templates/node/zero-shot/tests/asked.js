/** The client under test, and a call of it. */

import { ZeroShotClassifier } from "../src/index.js";

export const Client = ZeroShotClassifier;

/** @param {ZeroShotClassifier} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.classify(texts, ["a", "b"]);
