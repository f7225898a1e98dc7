/** The names of the tokens that elements stand for. */

import { BPE } from "tokenizers";
import { CONTRACT } from "./contract.js";
import { parseTokenizer } from "./model.js";
import { located, readHead } from "./modelfile.js";

/**
 * Read them from a model file, whose tokenizer may live in another thread.
 *
 * @param {string} path
 * @returns {string[]} by id; empty where there is no token, as a table may be longer than the vocabulary
 */
export function readVocabulary(path) {
  try {
    const tokenizer = parseTokenizer(readHead(path).tokenizer);
    const { dimension } = CONTRACT.output;
    const names = Array.from({ length: dimension }, (_, id) => tokenizer.idToToken(id) ?? "");
    // A Tokenizer has no release, and a garbage collector does not see what it holds.
    tokenizer.setModel(BPE.empty());
    return names;
  } catch (error) {
    throw located(path, error);
  }
}
