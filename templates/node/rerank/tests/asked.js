/** The client under test, and a call of it. */

import { Reranker } from "../src/index.js";

export const Client = Reranker;

/** @param {Reranker} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) => model.score("a", texts);
