/** Find the labels of pairs of texts: index.d.ts documents it. */

import { SETTINGS } from "./contract.js";
import { checkedOptions, checkedText, Model } from "./model.js";
import { best } from "./ranking.js";

/** @import * as api from "../index.d.ts" */

export * from "./errors.js";
export { Model };

/** @type {readonly string[]} */
const LABELS = Object.freeze(SETTINGS.labels);

/** @implements {api.PairClassifier} */
export class PairClassifier extends Model {
  labels = LABELS;

  /** @type {api.PairClassifier["classify"]} */
  async classify(pairs, options) {
    const { top } = checkedOptions(options);
    const rows = await this.scores(pairs);
    return rows.map((row) =>
      best(row, top).map((place) => ({ label: LABELS[place], score: row[place] })),
    );
  }

  /** @type {api.PairClassifier["scores"]} */
  async scores(pairs) {
    return this._results(Array.from(pairs, checkedPair));
  }
}

/** Two texts of valid Unicode. @type {(pair: api.Pair, index: number) => api.Pair} */
function checkedPair(pair, index) {
  const name = `pairs[${index}]`;
  if (pair?.length !== 2) throw new TypeError(`${name} is no pair; expected two texts`);
  return [checkedText(pair[0], `${name}[0]`, index), checkedText(pair[1], `${name}[1]`, index)];
}
