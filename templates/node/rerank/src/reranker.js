/** Order documents by how well they answer a query: index.d.ts documents it. */

import { checkedCourse, checkedText, checkedTexts } from "./arguments.js";
import { openModel } from "./open-model.js";
import { PairModel } from "./pair-model.js";

/** @import * as api from "../index.d.ts" */
/** @import { Text } from "./tokens.js" */
/** @import { Course } from "./windows.js" */

/** @implements {api.Reranker} */
export class Reranker extends PairModel {
  /**
   * @param {string | api.FileURL} path
   * @param {api.RerankerOptions} [options]
   */
  static async open(path, options) {
    return new Reranker(await openModel(path, options));
  }

  /**
   * @param {string} query
   * @param {api.Texts} documents
   * @param {api.RerankOptions} [options]
   * @returns {Promise<api.Rank[]>}
   */
  async rerank(query, documents, options) {
    const course = checkedCourse(options, "top", "signal", "progress");
    const scores = await this.#scores(query, documents, () => course);
    // The sort is stable: of equal scores the first comes first.
    const places = [...scores.keys()].sort((a, b) => scores[b] - scores[a]);
    return places.slice(0, course.top).map((index) => ({ index, score: scores[index] }));
  }

  /**
   * @param {string} query
   * @param {api.Texts} documents
   * @param {api.CallOptions} [options]
   */
  score(query, documents, options) {
    return this.#scores(query, documents, () => checkedCourse(options, "signal", "progress"));
  }

  /**
   * @param {string} query
   * @param {api.Texts | AsyncIterable<string>} documents
   * @param {api.ScoreEachOptions} [options]
   */
  scoreEach(query, documents, options) {
    const asked = checkedText(query, "query");
    const rows = this._each(
      documents,
      () => checkedCourse(options, "signal"),
      (document, index) => [[asked, checkedText(document, "documents", index)]],
    );
    return firstOfEach(rows);
  }

  /** @override */
  toString() {
    return `Reranker(${this.name}, ${this.provider}, ${this._state})`;
  }

  /**
   * @param {string} query
   * @param {api.Texts} documents
   * @param {() => Course} check
   */
  async #scores(query, documents, check) {
    const rows = await this._vectors(pairsOf(query, documents), check);
    return rows.map(([score]) => score);
  }
}

/**
 * The query with each document; both are judged when the first pair is taken.
 *
 * @param {string} query
 * @param {api.Texts} documents
 * @returns {Generator<Text>}
 */
function* pairsOf(query, documents) {
  const asked = checkedText(query, "query");
  for (const document of checkedTexts(documents, "documents")) yield [asked, document];
}

/**
 * @param {AsyncIterable<api.Vector>} rows
 * @returns {AsyncGenerator<number, void, undefined>}
 */
async function* firstOfEach(rows) {
  for await (const [score] of rows) yield score;
}
