/** The client under test, and a call of it. */

import { Tagger } from "../src/index.js";

export const Client = Tagger;

/** @param {Tagger} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.tag(texts);
