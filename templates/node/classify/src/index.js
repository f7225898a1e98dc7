/** Find the labels of texts: index.d.ts documents it. */

import { SETTINGS } from "./contract.js";
import { checkedOptions, checkedTexts, Model } from "./model.js";
import { best } from "./ranking.js";

/** @import * as api from "../index.d.ts" */

export * from "./errors.js";
export { Model };

/** @type {readonly string[]} */
const LABELS = Object.freeze(SETTINGS.labels);

/** @implements {api.Classifier} */
export class Classifier extends Model {
  labels = LABELS;

  /** @type {api.Classifier["classify"]} */
  async classify(texts, options) {
    const { top } = checkedOptions(options);
    const rows = await this.scores(texts);
    return rows.map((row) =>
      best(row, top).map((place) => ({ label: LABELS[place], score: row[place] })),
    );
  }

  /** @type {api.Classifier["scores"]} */
  async scores(texts) {
    return this._results(checkedTexts(texts));
  }
}
