/** The client under test, and a call of it. */

import { MultiVectorEmbedder } from "../src/index.js";

export const Client = MultiVectorEmbedder;

/** @param {MultiVectorEmbedder} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.embed(texts);
