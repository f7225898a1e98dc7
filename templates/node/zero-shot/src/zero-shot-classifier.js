/** Find which of any labels texts have: index.d.ts documents it. */

import { checkedCourse, checkedText, checkedTexts } from "./arguments.js";
import { openModel } from "./open-model.js";
import { PairModel } from "./pair-model.js";
import { Question } from "./question.js";

/** @import * as api from "../index.d.ts" */

/** @implements {api.ZeroShotClassifier} */
export class ZeroShotClassifier extends PairModel {
  /**
   * @param {string | api.FileURL} path
   * @param {api.ZeroShotClassifierOptions} [options]
   */
  static async open(path, options) {
    return new ZeroShotClassifier(await openModel(path, options));
  }

  /**
   * @param {api.Texts} texts
   * @param {api.Texts} labels
   * @param {api.ClassifyOptions} [options]
   */
  async classify(texts, labels, options) {
    const course = checkedCourse(options, "top", "template", "multiLabel", "signal", "progress");
    const question = new Question(labels, options);
    const rows = await this._vectors(pairsOf(texts, question), () => course);
    return question.labelsOfAll(rows);
  }

  /**
   * @param {api.Texts | AsyncIterable<string>} texts
   * @param {api.Texts} labels
   * @param {api.ClassifyEachOptions} [options]
   */
  classifyEach(texts, labels, options) {
    const course = checkedCourse(options, "top", "template", "multiLabel", "signal");
    const question = new Question(labels, options);
    const rows = this._each(
      texts,
      () => course,
      (text, index) => question.pairsOf(checkedText(text, "texts", index)),
    );
    return question.labelsOfEach(rows);
  }

  /** @override */
  toString() {
    return `ZeroShotClassifier(${this.name}, ${this.provider}, ${this._state})`;
  }
}

/**
 * Each text with each label; the texts are judged when the first pair is taken.
 *
 * @param {api.Texts} texts
 * @param {Question} question
 */
function* pairsOf(texts, question) {
  for (const text of checkedTexts(texts)) yield* question.pairsOf(text);
}
