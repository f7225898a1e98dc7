/** The client under test, and a call of it. */

import { HybridEmbedder } from "../src/index.js";

export const Client = HybridEmbedder;

/** @param {HybridEmbedder} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.embed(texts);
