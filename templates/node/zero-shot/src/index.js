/** Find which of any labels texts have: index.d.ts documents it. */

import { checkedOptions, checkedText, checkedTexts, Model } from "./model.js";
import { best } from "./ranking.js";

/** @import * as api from "../index.d.ts" */
/** @import { Pair } from "./pairs.js" */

export * from "./errors.js";
export { Model };

/** @implements {api.ZeroShotClassifier} */
export class ZeroShotClassifier extends Model {
  /** @type {api.ZeroShotClassifier["classify"]} */
  async classify(texts, labels, options) {
    const { template, multiLabel, top } = checkedOptions(options);
    const [given, known] = [checkedTexts(texts), checkedTexts(labels, "labels")];
    if (known.length === 0 || new Set(known).size < known.length) {
      throw new RangeError(`labels are "${known.join('", "')}"; give at least one, and each once`);
    }
    const parts = checkedText(template ?? "This example is {}.", "template").split("{}");
    if (parts.length === 1) {
      throw new RangeError(`template is "${template}"; put {} where the label goes`);
    }
    const hypotheses = known.map((label) => parts.join(label));
    /** @type {Pair[]} */
    const pairs = given.flatMap((text) => hypotheses.map((one) => [text, one]));
    const rows = await this._results(pairs);
    return given.map((_, text) => {
      const own = rows.slice(text * known.length, (text + 1) * known.length);
      const scores = multiLabel || known.length === 1 ? own.map(probability) : softmax(own);
      return best(scores, top).map((place) => ({ label: known[place], score: scores[place] }));
    });
  }
}

/** Of entailment against contradiction. @param {Float32Array} row */
function probability([entailment, contradiction]) {
  const odds = contradiction - entailment;
  // By the logarithm of 1 + exp(odds), without an exponential that could be infinite.
  return Math.exp(-(Math.max(0, odds) + Math.log1p(Math.exp(-Math.abs(odds)))));
}

/** Of the entailments of all labels, which are 1 together. @param {Float32Array[]} rows */
function softmax(rows) {
  const largest = rows.reduce((most, [entailment]) => Math.max(most, entailment), -Infinity);
  const odds = rows.map(([entailment]) => Math.exp(entailment - largest));
  const sum = odds.reduce((total, one) => total + one, 0);
  return odds.map((one) => one / sum);
}
