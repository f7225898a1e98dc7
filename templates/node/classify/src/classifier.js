/** Find the labels of texts: index.d.ts documents it. */

import { checkedCourse } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { OpenModel, openModel } from "./open-model.js";

/** @import * as api from "../index.d.ts" */
/** @import { Model } from "./model.js" */
/** @import { RemoteModel } from "./remote-model.js" */
/** @import { RemoteModels } from "./remote-models.js" */

/** @type {readonly string[]} */
const LABELS = Object.freeze(CONTRACT.settings.labels);

/** How the calls go on that have no options. */
const COURSE = { prompt: CONTRACT.default_prompt };

/** @implements {api.Classifier} */
export class Classifier extends OpenModel {
  /**
   * For `open` alone.
   *
   * @param {Model | RemoteModel | RemoteModels} model
   */
  constructor(model) {
    super(model);
    this.labels = LABELS;
  }

  /**
   * @param {string | api.FileURL} path
   * @param {api.ClassifierOptions} [options]
   */
  static async open(path, options) {
    return new Classifier(await openModel(path, options));
  }

  /**
   * @param {api.Texts} texts
   * @param {api.ClassifyOptions} [options]
   */
  async classify(texts, options) {
    const course = checkedCourse(options, "top", "signal", "progress");
    const rows = await this._vectors(texts, () => course);
    return rows.map((scores) => best(scores, course.top));
  }

  /**
   * @param {api.Texts | AsyncIterable<string>} texts
   * @param {api.ClassifyEachOptions} [options]
   */
  classifyEach(texts, options) {
    const course = checkedCourse(options, "top", "signal");
    const rows = this._each(texts, () => course);
    return bestOfEach(rows, course.top);
  }

  /**
   * @param {api.Texts} texts
   * @param {api.CallOptions} [options]
   */
  scores(texts, options) {
    return this._vectors(texts, () => checkedCourse(options, "signal", "progress"));
  }

  /** @param {api.Texts} texts */
  tokenize(texts) {
    return this._tokenize(texts, () => COURSE);
  }

  /** @param {readonly api.TokenIds[]} rows */
  scoreIds(rows) {
    return this._run(rows, () => COURSE);
  }

  /** @override */
  toString() {
    return `Classifier(${this.name}, ${LABELS.length} labels, ${this.provider}, ${this._state})`;
  }
}

/**
 * @param {AsyncIterable<api.Vector>} rows
 * @param {number | undefined} top
 * @returns {AsyncGenerator<api.Label[], void, undefined>}
 */
async function* bestOfEach(rows, top) {
  for await (const scores of rows) yield best(scores, top);
}

/**
 * The labels with the highest scores; of equal ones the first.
 *
 * @param {api.Vector} scores
 * @param {number | undefined} top all of them where it is not said
 * @returns {api.Label[]}
 */
function best(scores, top) {
  const places = [...scores.keys()].sort((a, b) => scores[b] - scores[a]);
  return places.slice(0, top).map((place) => ({ label: LABELS[place], score: scores[place] }));
}
