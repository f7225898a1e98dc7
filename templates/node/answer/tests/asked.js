/** The client under test, and a call of it. */

import { Answerer } from "../src/index.js";

export const Client = Answerer;

/** @param {Answerer} model @param {Iterable<string> & object} texts @returns {Promise<any>} */
export const call = (model, texts) =>
  Promise.all(Array.from(texts, (text) => model.answer("a", `${text} b`)));
