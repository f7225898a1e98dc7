/** Find spans of texts: index.d.ts documents it. */

import { checkedCourse, checkedSource, checkedText } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { ClosedError } from "./errors.js";
import { OpenModel, openModel } from "./open-model.js";
import { partsOf, rowsOfEach, wordsOf } from "./parts.js";
import { bestLabel, checkedAggregation, spansOf } from "./spans.js";
import { windowsOf } from "./windows.js";

/** @import * as api from "../index.d.ts" */
/** @import { Chunk } from "./chunk.js" */
/** @import { Model } from "./model.js" */
/** @import { RemoteModel } from "./remote-model.js" */
/** @import { RemoteModels } from "./remote-models.js" */
/** @import { LabelledWord } from "./spans.js" */
/** @import { Course } from "./windows.js" */

/** @type {readonly string[]} */
const LABELS = Object.freeze(CONTRACT.settings.labels);

/** Tokens of a text that go through the model at once, at most. @type {number} */
const ROOM = CONTRACT.settings.room;

/** How the calls go on that have no options. */
const COURSE = { prompt: CONTRACT.default_prompt };

/** @typedef {Course & { aggregation: api.Aggregation }} Tagging how a call goes on that finds spans */

/**
 * @extends {OpenModel<api.TokenScores>}
 * @implements {api.Tagger}
 */
export class Tagger extends OpenModel {
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
   * @param {api.TaggerOptions} [options]
   */
  static async open(path, options) {
    return new Tagger(await openModel(path, options));
  }

  /**
   * @param {api.Texts} texts
   * @param {api.TagOptions} [options]
   */
  tag(texts, options) {
    return this._call(async (model) => {
      const windows = windowsOf(this._checked(texts), (text) => [text]);
      const course = checkedTagging(options, "progress");
      /** @type {api.Span[][]} */
      const found = [];
      for await (const window of windows) {
        for (const spans of await tagged(model, window, course)) found.push(spans);
        course.progress?.(found.length);
        course.signal?.throwIfAborted();
      }
      return found;
    });
  }

  /**
   * @param {api.Texts | AsyncIterable<string>} texts
   * @param {api.TagEachOptions} [options]
   */
  tagEach(texts, options) {
    if (this._state === "closed") throw new ClosedError();
    const source = checkedSource(texts, Symbol.asyncIterator, Symbol.iterator);
    const course = checkedTagging(options);
    const textsOf = (/** @type {unknown} */ text, /** @type {number} */ index) => [
      checkedText(text, "texts", index),
    ];
    return this.#tagEach(windowsOf(source, textsOf, course.signal), course);
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
    return `Tagger(${this.name}, ${LABELS.length} labels, ${this.provider}, ${this._state})`;
  }

  /**
   * @param {AsyncIterable<string[]>} windows
   * @param {Tagging} course
   * @returns {AsyncGenerator<api.Span[], void, undefined>}
   */
  async *#tagEach(windows, course) {
    // A stream that nobody reads on must not keep `close` waiting, so a call is one window's.
    for await (const window of windows) {
      yield* await this._call((model) => tagged(model, window, course));
      course.signal?.throwIfAborted();
    }
  }
}

/**
 * @param {api.TagOptions | undefined} options
 * @param {...string} others
 * @returns {Tagging}
 */
function checkedTagging(options, ...others) {
  const course = checkedCourse(options, "signal", ...others, "aggregation");
  return { ...course, aggregation: checkedAggregation(options?.aggregation ?? "first") };
}

/**
 * The spans of each text.
 *
 * @param {Model | RemoteModel | RemoteModels} model
 * @param {string[]} texts
 * @param {Tagging} course
 */
async function tagged(model, texts, { prompt, signal, aggregation }) {
  const chunks = await model.chunks(texts, ROOM);
  const parts = chunks.flatMap((found, place) => partsWithin(texts[place], found, place));
  /** @type {LabelledWord[][]} */
  const words = texts.map(() => []);
  const strings = parts.map(({ text }) => text);
  let part = 0;
  for await (const rows of rowsOfEach(model, strings, { prompt, signal })) {
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
 * @param {string} text
 * @param {Chunk[]} chunks
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
