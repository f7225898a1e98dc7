/** Find the answer to a question in a text: index.d.ts documents it. */

import { checkedOptions, checkedText, mistyped } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { LongTextError } from "./errors.js";
import { Thread } from "./model.js";
import { PairModel } from "./pair-model.js";
import { partsOf, rowsOfEach, wordsOf } from "./parts.js";
import { checkedTop } from "./top.js";

/** @import * as api from "../index.d.ts" */
/** @import { Chunk, Word } from "./chunk.js" */
/** @import { Text } from "./tokens.js" */

/** Tokens of a question and a context that go through the model at once, at most. @type {number} */
const ROOM = CONTRACT.settings.room;

/** @typedef {Omit<api.Answer, "text">} Place of an answer, and its score */

/** @implements {api.Answerer} */
export class Answerer extends PairModel {
  #thread;

  /** @param {Thread} thread */
  constructor(thread) {
    super(thread);
    this.#thread = thread;
  }

  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new Answerer(await Thread.open(source, options));
  }

  /** @type {api.Answerer["answer"]} */
  async answer(question, context, options) {
    const known = checkedOptions(options, "{ top: 3 }", ["top", "noAnswer"]);
    const top = checkedTop(known.top) ?? 1;
    const noAnswer = checkedNoAnswer(known.noAnswer ?? false);
    checkedText(question, "question");
    checkedText(context, "context");
    return this.#thread.call(async () => {
      // The question is only counted, so it is not cut into pieces.
      const [asked] = await this.#thread.ask("chunks", [question], Infinity);
      const room = roomBeside(question, asked);
      /** @type {Chunk[][]} */
      const [chunks] = await this.#thread.ask("chunks", [context], room);
      if (!chunks.some(({ words }) => words.length > 0)) {
        throw new RangeError("the context has no words; give a text that may hold the answer");
      }
      const parts = partsOf(chunks, room).map(({ first, last }) => chunks.slice(first, last));
      const pairs = parts.map((part) => pairOf(question, context, part));
      /** @type {Map<string, Place>} */
      const answers = new Map();
      let none = Infinity;
      let part = 0;
      for await (const [[score], ...rows] of rowsOfEach(this.#thread, pairs)) {
        none = Math.min(none, score);
        takeBest(answers, parts[part++], rows);
      }
      if (noAnswer) answers.set("none", { score: none, start: 0, end: 0 });
      return [...answers.values()]
        .sort((a, b) => b.score - a.score || a.start - b.start || a.end - b.end)
        .slice(0, top)
        .map(({ score, start, end }) => ({ text: context.slice(start, end), score, start, end }));
    });
  }

  /** @type {api.Answerer["spans"]} */
  spans(pairs) {
    return this.scorePairs(pairs);
  }

  /** @type {api.Answerer["spanIds"]} */
  spanIds(rows) {
    return this.scoreIds(rows);
  }
}

/** @param {unknown} noAnswer */
function checkedNoAnswer(noAnswer) {
  if (typeof noAnswer === "boolean") return noAnswer;
  throw mistyped("noAnswer", noAnswer, "true or false");
}

/** Tokens of the context beside the question. @param {string} question @param {Chunk[]} chunks its */
function roomBeside(question, chunks) {
  const tokens = chunks.reduce((sum, chunk) => sum + chunk.tokens, 0);
  if (tokens < ROOM) return ROOM - tokens;
  // So many characters are never longer.
  const start = [...question.slice(0, 80)].slice(0, 40).join("");
  throw new LongTextError(
    `the question "${start}…" has ${tokens} tokens; expected less than ${ROOM}, ` +
      "which the context shares; shorten it",
  );
}

/**
 * The question with a part of the context.
 *
 * @type {(question: string, context: string, part: Chunk[]) => Text}
 */
function pairOf(question, context, part) {
  return [question, context.slice(part[0].start, part[part.length - 1].end)];
}

/**
 * Keep the answers of whole words that are new, or better in this part: each has the score of the
 * likeliest tokens that begin and end in its words.
 *
 * @param {Map<string, Place>} answers @param {Chunk[]} part
 * @param {api.Spans} rows the scores of those that begin with each token, by how many more they have
 */
function takeBest(answers, part, rows) {
  const words = rows.map(() => /** @type {Word | undefined} */ (undefined));
  for (const word of wordsOf(part, rows.length)) words.fill(word, word.first, word.last);
  for (const [token, row] of rows.entries()) {
    const { start } = words[token] ?? {};
    if (start === undefined) continue;
    for (const [more, score] of row.entries()) {
      const end = words[token + more]?.end;
      if (end === undefined) continue;
      const place = `${start} ${end}`;
      if (score > (answers.get(place)?.score ?? -1)) answers.set(place, { score, start, end });
    }
  }
}
