/** The names of the tokens that elements stand for. */

import { CONTRACT } from "./contract.js";
import { located, readHead } from "./modelfile.js";
import { parseTokenizer } from "./session.js";

/** By id; empty where a table is longer than the vocabulary. @param {string} path */
export function readVocabulary(path) {
  try {
    const tokenizer = parseTokenizer(readHead(path).tokenizer);
    const { dimension } = CONTRACT.output;
    return Array.from({ length: dimension }, (_, id) => tokenizer.idToToken(id) ?? "");
  } catch (error) {
    throw located(path, error);
  }
}
