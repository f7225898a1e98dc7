/** The client under test, and a call of it. */

import { SparseEmbedder } from "../src/index.js";

export const Client = SparseEmbedder;

/** @param {SparseEmbedder} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.embed(texts);
