/** Find the labels of texts: index.d.ts documents it. */

import { checkedOptions, checkedRows, checkedTexts } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { Model, Thread } from "./model.js";
import { bestOf, checkedTop } from "./top.js";

/** @import * as api from "../index.d.ts" */

/** @type {readonly string[]} */
const LABELS = Object.freeze(CONTRACT.settings.labels);

/** @implements {api.Classifier} */
export class Classifier extends Model {
  #thread;

  labels = LABELS;

  /** @param {Thread} thread */
  constructor(thread) {
    super(thread);
    this.#thread = thread;
  }

  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new Classifier(await Thread.open(source, options));
  }

  /** @type {api.Classifier["classify"]} */
  async classify(texts, options) {
    const top = checkedTop(checkedOptions(options, "{ top: 3 }", ["top"]).top);
    const rows = await this.scores(texts);
    const labelled = (/** @type {api.Vector} */ scores) =>
      bestOf(scores, top).map((place) => ({ label: LABELS[place], score: scores[place] }));
    return rows.map(labelled);
  }

  /** @type {api.Classifier["scores"]} */
  async scores(texts) {
    return this.#thread.vectors(checkedTexts(texts), CONTRACT.default_prompt);
  }

  /** @type {api.Classifier["tokenize"]} */
  async tokenize(texts) {
    return this.#thread.tokenize(checkedTexts(texts), CONTRACT.default_prompt);
  }

  /** @type {api.Classifier["scoreIds"]} */
  async scoreIds(rows) {
    return this.#thread.run(checkedRows(rows), CONTRACT.default_prompt);
  }
}
