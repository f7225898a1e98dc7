/** Find the answer to a question in a text: index.d.ts documents it. */

import { SETTINGS } from "./contract.js";
import { checkedCount, checkedOptions, checkedText, Model } from "./model.js";
import { checkRoom, checkTokens } from "./words.js";

/** @import * as api from "../index.d.ts" */
/** @import { Word } from "./words.js" */

export * from "./errors.js";
export { Model };

/** @implements {api.Answerer} */
export class Answerer extends Model {
  /** @type {api.Answerer["answer"]} */
  async answer(question, context, options) {
    const { top, noAnswer } = checkedOptions(options);
    const most = checkedCount("top", top ?? 1);
    checkedText(question, "question");
    checkedText(context, "context");
    const [[asked, { words, tokens }], [[[none], ...rows]]] = await Promise.all([
      this._words([question, context]),
      this._results([[question, context]]),
    ]);
    checkRoom(context, tokens, SETTINGS.room - asked.tokens);
    if (words.length === 0) {
      throw new RangeError("the context has no words; give a text that may hold the answer");
    }
    checkTokens(context, tokens, rows.length);
    const answers = answersOf(words, rows);
    if (noAnswer) answers.push({ start: 0, end: 0, score: none });
    answers.sort((a, b) => b.score - a.score || a.start - b.start || a.end - b.end);
    return answers
      .slice(0, most)
      .map(({ score, start, end }) => ({ text: context.slice(start, end), score, start, end }));
  }
}

/**
 * The answers of whole words; each has the score of the likeliest tokens that begin and end in them.
 *
 * @param {Word[]} words @param {Float32Array[]} rows of each first token, by how many more there are
 */
function answersOf(words, rows) {
  /** @type {(Word | undefined)[]} */
  const byToken = new Array(rows.length);
  for (const word of words) byToken.fill(word, word.first, word.last);
  /** @type {Map<string, { start: number, end: number, score: number }>} */
  const answers = new Map();
  for (const [token, row] of rows.entries()) {
    const start = byToken[token]?.start;
    for (const [longer, score] of row.entries()) {
      const end = byToken[token + longer]?.end;
      if (start === undefined || end === undefined) continue;
      const place = `${start} ${end}`;
      if (score > (answers.get(place)?.score ?? -1)) answers.set(place, { start, end, score });
    }
  }
  return [...answers.values()];
}
