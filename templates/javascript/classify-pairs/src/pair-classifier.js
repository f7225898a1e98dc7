/** Find the labels of pairs of texts: index.d.ts documents it. */

import { checkedOptions } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { Thread } from "./model.js";
import { PairModel } from "./pair-model.js";
import { bestOf, checkedTop } from "./top.js";

/** @import * as api from "../index.d.ts" */

/** @type {readonly string[]} */
const LABELS = Object.freeze(CONTRACT.settings.labels);

/** @implements {api.PairClassifier} */
export class PairClassifier extends PairModel {
  labels = LABELS;

  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new PairClassifier(await Thread.open(source, options));
  }

  /** @type {api.PairClassifier["classify"]} */
  async classify(pairs, options) {
    const top = checkedTop(checkedOptions(options, "{ top: 3 }", ["top"]).top);
    const rows = await this.scorePairs(pairs);
    const labelled = (/** @type {api.Vector} */ scores) =>
      bestOf(scores, top).map((place) => ({ label: LABELS[place], score: scores[place] }));
    return rows.map(labelled);
  }
}
