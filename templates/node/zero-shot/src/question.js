/** What is asked of each text, and what its labels are. */

import { checkedLabels, checkedMultiLabel, checkedTemplate } from "./label-arguments.js";

/** @import * as api from "../index.d.ts" */
/** @import { Text } from "./tokens.js" */

/** What a label is put into, so that a text may entail it. */
const TEMPLATE = "This example is {}.";

export class Question {
  #labels;
  #hypotheses;
  #own;
  #top;

  /**
   * @param {Iterable<string>} labels
   * @param {api.ClassifyOptions} [options]
   */
  constructor(labels, { template, multiLabel, top } = {}) {
    this.#labels = checkedLabels(labels);
    const parts = checkedTemplate(template ?? TEMPLATE).split("{}");
    this.#hypotheses = this.#labels.map((label) => parts.join(label));
    this.#own = checkedMultiLabel(multiLabel ?? false) || this.#labels.length === 1;
    this.#top = top ?? undefined;
  }

  /**
   * A text with each label.
   *
   * @param {string} text
   * @returns {Text[]}
   */
  pairsOf(text) {
    return this.#hypotheses.map((hypothesis) => [text, hypothesis]);
  }

  /**
   * The labels of each text, best first; of equal ones the first.
   *
   * @param {api.Vector[]} rows what the graph gives for the pairs of all texts
   * @returns {api.Label[][]}
   */
  labelsOfAll(rows) {
    const size = this.#labels.length;
    return Array.from({ length: rows.length / size }, (_, text) =>
      this.#labelsOf(rows.slice(text * size, (text + 1) * size)),
    );
  }

  /**
   * The same of a stream.
   *
   * @param {AsyncIterable<api.Vector>} rows
   * @returns {AsyncGenerator<api.Label[], void, undefined>}
   */
  async *labelsOfEach(rows) {
    let taken = [];
    for await (const row of rows) {
      taken.push(row);
      if (taken.length < this.#labels.length) continue;
      yield this.#labelsOf(taken);
      taken = [];
    }
  }

  /** @param {api.Vector[]} rows entailment and contradiction of one text by each label */
  #labelsOf(rows) {
    const scores = this.#own ? rows.map(probability) : softmax(rows);
    // The sort is stable.
    const places = [...scores.keys()].sort((a, b) => scores[b] - scores[a]);
    return places
      .slice(0, this.#top)
      .map((place) => ({ label: this.#labels[place], score: scores[place] }));
  }
}

/**
 * Of entailment against contradiction.
 *
 * @param {api.Vector} row
 */
function probability([entailment, contradiction]) {
  const odds = contradiction - entailment;
  // By the logarithm of 1 + exp(odds), without an exponential that could be infinite.
  return Math.exp(-(Math.max(0, odds) + Math.log1p(Math.exp(-Math.abs(odds)))));
}

/**
 * Of the entailments of all labels, which are 1 together.
 *
 * @param {api.Vector[]} rows
 */
function softmax(rows) {
  const largest = rows.reduce((most, [entailment]) => Math.max(most, entailment), -Infinity);
  const odds = rows.map(([entailment]) => Math.exp(entailment - largest));
  const sum = odds.reduce((total, one) => total + one, 0);
  return odds.map((one) => one / sum);
}
