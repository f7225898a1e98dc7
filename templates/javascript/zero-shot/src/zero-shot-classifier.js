/** Find which of any labels texts have: index.d.ts documents it. */

import { checkedOptions, checkedTexts } from "./arguments.js";
import { checkedMultiLabel, checkedTemplate } from "./label-arguments.js";
import { checkedLabels } from "./labels.js";
import { Thread } from "./model.js";
import { PairModel } from "./pair-model.js";
import { bestOf, checkedTop } from "./top.js";

/** @import * as api from "../index.d.ts" */

const OPTIONS = ["top", "template", "multiLabel"];

/** What a label is put into, so that a text may entail it. */
const TEMPLATE = "This example is {}.";

/** @implements {api.ZeroShotClassifier} */
export class ZeroShotClassifier extends PairModel {
  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new ZeroShotClassifier(await Thread.open(source, options));
  }

  /** @type {api.ZeroShotClassifier["classify"]} */
  async classify(texts, labels, options) {
    const known = checkedOptions(options, "{ top: 3 }", OPTIONS);
    const top = checkedTop(known.top);
    const names = checkedLabels(labels);
    const parts = checkedTemplate(known.template ?? TEMPLATE).split("{}");
    const alone = checkedMultiLabel(known.multiLabel ?? false) || names.length === 1;
    const hypotheses = names.map((name) => parts.join(name));
    /** @type {api.Pair[]} */
    const pairs = checkedTexts(texts).flatMap((text) => hypotheses.map((one) => [text, one]));
    const rows = await this.scorePairs(pairs);
    return Array.from({ length: rows.length / names.length }, (_, text) => {
      const own = rows.slice(text * names.length, (text + 1) * names.length);
      const scores = alone ? own.map(probability) : softmax(own);
      return bestOf(scores, top).map((place) => ({ label: names[place], score: scores[place] }));
    });
  }
}

/** Of entailment against contradiction. @param {api.Vector} row */
function probability([entailment, contradiction]) {
  const odds = contradiction - entailment;
  // By the logarithm of 1 + exp(odds), without an exponential that could be infinite.
  return Math.exp(-(Math.max(0, odds) + Math.log1p(Math.exp(-Math.abs(odds)))));
}

/** Of the entailments of all labels, which are 1 together. @param {api.Vector[]} rows */
function softmax(rows) {
  const largest = rows.reduce((most, [entailment]) => Math.max(most, entailment), -Infinity);
  const odds = rows.map(([entailment]) => Math.exp(entailment - largest));
  const sum = odds.reduce((total, one) => total + one, 0);
  return odds.map((one) => one / sum);
}
