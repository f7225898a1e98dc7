/** The client under test, and a call of it. */

import { PairClassifier } from "../src/index.js";

export const Client = PairClassifier;

/** @param {PairClassifier} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.classify(Array.from(texts, (text) => [text, "a"]));
