/** Find spans of texts: index.d.ts documents it. */

import { checkedOptions, checkedRows, checkedTexts } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { Model, Thread, WINDOW } from "./model.js";
import { partsOf, rowsOfEach, wordsOf } from "./parts.js";
import { bestLabel, checkedAggregation, spansOf } from "./spans.js";

/** @import * as api from "../index.d.ts" */
/** @import { Chunk } from "./chunk.js" */
/** @import { LabelledWord } from "./spans.js" */

/** @type {readonly string[]} */
const LABELS = Object.freeze(CONTRACT.settings.labels);

/** Tokens of a text that go through the model at once, at most. @type {number} */
const ROOM = CONTRACT.settings.room;

/** @implements {api.Tagger} */
export class Tagger extends Model {
  #thread;

  labels = LABELS;

  /** @param {Thread} thread */
  constructor(thread) {
    super(thread);
    this.#thread = thread;
  }

  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new Tagger(await Thread.open(source, options));
  }

  /** @type {api.Tagger["tag"]} */
  async tag(texts, options) {
    const known = checkedOptions(options, '{ aggregation: "mean" }', ["aggregation"]);
    const aggregation = checkedAggregation(known.aggregation ?? "first");
    const checked = checkedTexts(texts);
    return this.#thread.call(async () => {
      /** @type {api.Span[][]} */
      const found = [];
      for (let start = 0; start < checked.length; start += WINDOW) {
        const window = checked.slice(start, start + WINDOW);
        found.push(...(await tagged(this.#thread, window, aggregation)));
      }
      return found;
    });
  }

  /** @type {api.Tagger["scores"]} */
  async scores(texts) {
    return this.#thread.vectors(checkedTexts(texts), CONTRACT.default_prompt);
  }

  /** @type {api.Tagger["tokenize"]} */
  async tokenize(texts) {
    return this.#thread.tokenize(checkedTexts(texts), CONTRACT.default_prompt);
  }

  /** @type {api.Tagger["scoreIds"]} */
  async scoreIds(rows) {
    return this.#thread.run(checkedRows(rows), CONTRACT.default_prompt);
  }
}

/**
 * The spans of each text.
 *
 * @type {(thread: Thread, texts: string[], aggregation: api.Aggregation) => Promise<api.Span[][]>}
 */
async function tagged(thread, texts, aggregation) {
  /** @type {Chunk[][]} */
  const chunks = await thread.ask("chunks", texts, ROOM);
  const parts = chunks.flatMap((found, place) => partsWithin(texts[place], found, place));
  /** @type {LabelledWord[][]} */
  const words = texts.map(() => []);
  const strings = parts.map(({ text }) => text);
  let part = 0;
  for await (const rows of rowsOfEach(thread, strings)) {
    const { place, chunks, behind } = parts[part++];
    for (const { start, end, first, last } of wordsOf(chunks, rows.length)) {
      const done = words[place].at(-1)?.end ?? 0;
      // A word that is longer than a piece of its chunk is one in each.
      if (start >= behind || end <= done) continue;
      const best = bestLabel(rows.slice(first, last), aggregation);
      words[place].push({ start: Math.max(start, done), end, ...best });
    }
  }
  return texts.map((text, place) => spansOf(text, words[place]));
}

/**
 * The parts of a text, and behind which character each gives no words: of what two share, each gives
 * the half that is further within.
 *
 * @param {string} text @param {Chunk[]} chunks
 * @param {number} place the text's
 */
function partsWithin(text, chunks, place) {
  const parts = partsOf(chunks, ROOM);
  const middles = parts.slice(1).map(({ first }, index) => {
    const { start, inner } = chunks[Math.floor((parts[index].last + first + 1) / 2)];
    return inner ?? start;
  });
  return parts.map(({ first, last }, index) => ({
    place,
    text: text.slice(chunks[first].start, chunks[last - 1].end),
    chunks: chunks.slice(first, last),
    behind: middles[index] ?? Infinity,
  }));
}
