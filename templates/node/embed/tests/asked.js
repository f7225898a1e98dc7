/** The client under test, and a call of it. */

import { Embedder } from "../src/index.js";

export const Client = Embedder;

/** @param {Embedder} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.embed(texts);
