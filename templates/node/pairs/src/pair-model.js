/** A model of pairs of texts, opened. */

import { checkedCourse } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { OpenModel } from "./open-model.js";
import { checkedPairs, checkedTokens } from "./pair-arguments.js";
import { tokensOf } from "./tokens.js";

/** @import * as api from "./pair-api.d.ts" */
/** @import { CallOptions, Vector } from "./api.d.ts" */

/** How the calls go on that have no options. */
const COURSE = { prompt: CONTRACT.default_prompt };

/**
 * The base of the class of each task of pairs.
 *
 * @template [T=Vector] what callers get of a pair
 * @extends {OpenModel<T>}
 * @implements {api.PairModel<T>}
 */
export class PairModel extends OpenModel {
  /** @param {api.Pairs} pairs */
  async tokenize(pairs) {
    const rows = await this._tokenize(pairs, () => COURSE);
    return rows.map(tokensOf);
  }

  /**
   * @param {api.Pairs} pairs
   * @param {CallOptions} [options]
   */
  scorePairs(pairs, options) {
    return this._vectors(pairs, () => checkedCourse(options, "signal", "progress"));
  }

  /** @param {readonly api.Tokens[]} rows */
  scoreIds(rows) {
    return this._run(rows, () => COURSE);
  }

  /**
   * @protected
   * @override
   * @param {unknown} pairs
   */
  _checked(pairs) {
    return checkedPairs(pairs);
  }

  /**
   * @protected
   * @override
   * @param {unknown} rows
   */
  _checkedRows(rows) {
    return checkedTokens(rows);
  }
}
