/** The client under test, and a call of it. */

import { Classifier } from "../src/index.js";

export const Client = Classifier;

/** @param {Classifier} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.classify(texts);
