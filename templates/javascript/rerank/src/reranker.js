/** Order documents by how well they answer a query: index.d.ts documents it. */

import { checkedOptions, checkedText, checkedTexts } from "./arguments.js";
import { Thread } from "./model.js";
import { PairModel } from "./pair-model.js";
import { bestOf, checkedTop } from "./top.js";

/** @import * as api from "../index.d.ts" */

/** @implements {api.Reranker} */
export class Reranker extends PairModel {
  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new Reranker(await Thread.open(source, options));
  }

  /** @type {api.Reranker["rerank"]} */
  async rerank(query, documents, options) {
    const top = checkedTop(checkedOptions(options, "{ top: 3 }", ["top"]).top);
    const scores = await this.score(query, documents);
    return bestOf(scores, top).map((index) => ({ index, score: scores[index] }));
  }

  /** @type {api.Reranker["score"]} */
  async score(query, documents) {
    const asked = checkedText(query, "query");
    /** @type {api.Pair[]} */
    const pairs = checkedTexts(documents, "documents").map((document) => [asked, document]);
    return (await this.scorePairs(pairs)).map(([score]) => score);
  }
}
