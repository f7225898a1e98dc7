/** Order documents by how well they answer a query: index.d.ts documents it. */

import { checkedText, checkedTexts, Model } from "./model.js";
import { best, checkedTop } from "./ranking.js";

/** @import * as api from "../index.d.ts" */

export * from "./errors.js";
export { Model };

/** @implements {api.Reranker} */
export class Reranker extends Model {
  /** @type {api.Reranker["rerank"]} */
  async rerank(query, documents, options) {
    const most = checkedTop(options);
    const scores = await this.score(query, documents);
    return best(scores, most).map((index) => ({ index, score: scores[index] }));
  }

  /** @type {api.Reranker["score"]} */
  async score(query, documents) {
    const asked = checkedText(query, "query");
    const given = checkedTexts(documents, "documents");
    const rows = await this._results(given.map((document) => [asked, document]));
    return rows.map(([score]) => score);
  }
}
