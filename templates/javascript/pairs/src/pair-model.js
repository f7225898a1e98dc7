/** A model of pairs of texts, opened. */

import { CONTRACT } from "./contract.js";
import { Model, Thread } from "./model.js";
import { checkedPairs, checkedTokens } from "./pair-arguments.js";
import { tokensOf } from "./tokens.js";

/** @import * as api from "../index.d.ts" */

/** The base of the class of each task of pairs. @implements {api.PairModel} */
export class PairModel extends Model {
  #thread;

  /** @param {Thread} thread */
  constructor(thread) {
    super(thread);
    this.#thread = thread;
  }

  /** @type {api.PairModel["tokenize"]} */
  async tokenize(pairs) {
    const rows = await this.#thread.tokenize(checkedPairs(pairs), CONTRACT.default_prompt);
    return rows.map(tokensOf);
  }

  /** @type {api.PairModel["scorePairs"]} */
  async scorePairs(pairs) {
    return this.#thread.vectors(checkedPairs(pairs), CONTRACT.default_prompt);
  }

  /** @type {api.PairModel["scoreIds"]} */
  async scoreIds(rows) {
    return this.#thread.run(checkedTokens(rows), CONTRACT.default_prompt);
  }
}
