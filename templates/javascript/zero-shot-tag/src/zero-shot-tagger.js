/** Find spans of texts for any labels: index.d.ts documents it. */

import { checkedOptions, checkedTexts, numberOr } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { checkedLabels } from "./labels.js";
import { Thread, WINDOW } from "./model.js";
import { PairModel } from "./pair-model.js";
import { bestOf, partsOf, spansAbove } from "./spans.js";
import { ROOM, wordsOf } from "./tokens.js";

/** @import * as api from "../index.d.ts" */
/** @import { Placed } from "./spans.js" */
/** @import { Text, Word } from "./tokens.js" */

/**
 * What is looked for, beside a prompt that leaves so much room for the tokens of words.
 *
 * @typedef {{ names: string[], prompt: string, room: number, least: number }} Wanted
 */

/** Scores in memory at a time: 64 MiB. */
const SCORES = 2 ** 24;

const { before_label, before_text, most_words, width } = CONTRACT.settings;

/** @implements {api.ZeroShotTagger} */
export class ZeroShotTagger extends PairModel {
  #thread;

  /** @param {Thread} thread */
  constructor(thread) {
    super(thread);
    this.#thread = thread;
  }

  /** @param {api.Source} source @param {api.OpenOptions} [options] */
  static async open(source, options) {
    return new ZeroShotTagger(await Thread.open(source, options));
  }

  /** @type {typeof api.ZeroShotTagger.labelPrompt} */
  static labelPrompt(labels) {
    return promptOf(checkedLabels(labels));
  }

  /** @type {api.ZeroShotTagger["tag"]} */
  async tag(texts, labels, options) {
    const known = checkedOptions(options, "{ threshold: 0.3 }", ["threshold"]);
    const least = checkedThreshold(known.threshold ?? 0.5);
    const names = checkedLabels(labels);
    const prompt = promptOf(names);
    const checked = checkedTexts(texts);
    return this.#thread.call(async () => {
      const [asked] = await sizesOf(this.#thread, [[prompt, ""]]);
      const wanted = { names, prompt, room: ROOM - asked, least };
      /** @type {api.Span[][]} */
      const found = [];
      for (let start = 0; start < checked.length; start += WINDOW) {
        const window = checked.slice(start, start + WINDOW);
        found.push(...(await tagged(this.#thread, window, wanted)));
      }
      return found;
    });
  }

  /** @type {api.ZeroShotTagger["spanScores"]} */
  spanScores(pairs) {
    return this.scorePairs(pairs);
  }

  /** @type {api.ZeroShotTagger["spanIds"]} */
  spanIds(rows) {
    return this.scoreIds(rows);
  }
}

/** @param {any} threshold @returns {number} */
function checkedThreshold(threshold) {
  const fault = `threshold is ${numberOr(threshold)}; expected a number from 0 to 1`;
  if (typeof threshold !== "number") throw new TypeError(fault);
  if (threshold >= 0 && threshold <= 1) return threshold;
  throw new RangeError(fault);
}

/** The first text of a pair. @param {string[]} names */
function promptOf(names) {
  for (const [place, name] of names.entries()) {
    const mark = [before_label, before_text].find((one) => name.includes(one));
    if (mark === undefined) continue;
    throw new RangeError(`labels[${place}] holds ${mark}, which parts labels; leave it out`);
  }
  return names.map((name) => before_label + name).join("") + before_text;
}

/**
 * The spans of each text.
 *
 * @param {Thread} thread @param {string[]} texts @param {Wanted} wanted
 * @returns {Promise<api.Span[][]>}
 */
async function tagged(thread, texts, { names, prompt, room, least }) {
  const words = await sizedWords(thread, texts);
  const parts = words.flatMap((own, place) => {
    const sizes = own.map(({ size }) => size);
    return partsOf(sizes, room).map((part) => ({ ...part, place }));
  });
  /** @type {Placed[][]} */
  const spans = texts.map(() => []);
  const most = Math.max(1, Math.floor(SCORES / (most_words * width * names.length)));
  for (let start = 0; start < parts.length; start += most) {
    const group = parts.slice(start, start + most);
    const pairs = group.map(({ place, first, last }) => {
      return [prompt, cutOut(texts[place], words[place].slice(first, last)).text];
    });
    /** @type {api.Vector[]} */
    const rows = await thread.ask("vectors", pairs, null);
    for (const [row, part] of group.entries()) {
      for (const span of spansAbove(rows[row], part, names.length, least)) {
        spans[part.place].push(span);
      }
    }
  }
  return spans.map((own, place) =>
    bestOf(own).map(({ score, first, last, label }) => {
      const found = cutOut(texts[place], words[place].slice(first, last));
      return { label: names[label], score, ...found };
    }),
  );
}

/** What words of a text stand in. @param {string} text @param {Word[]} words */
function cutOut(text, words) {
  const { start } = words[0];
  const { end } = words[words.length - 1];
  return { text: text.slice(start, end), start, end };
}

/**
 * The words of each text, but those of which the tokenizer makes no token, and how many they have.
 *
 * @param {Thread} thread @param {string[]} texts
 */
async function sizedWords(thread, texts) {
  const found = texts.map(wordsOf);
  const strings = [...new Set(found.flat().map(({ word }) => word))];
  const sizes = await sizesOf(
    thread,
    strings.map((word) => ["", word]),
  );
  const byWord = new Map(strings.map((word, place) => [word, sizes[place]]));
  return found.map((words) =>
    words
      .map((word) => ({ ...word, size: byWord.get(word.word) ?? 0 }))
      .filter(({ size }) => size > 0),
  );
}

/**
 * How many tokens each prompt and text have together, the text cut.
 *
 * @param {Thread} thread @param {Text[]} pairs
 * @returns {Promise<number[]>}
 */
async function sizesOf(thread, pairs) {
  const rows = await thread.ask("tokenize", pairs, null);
  return rows.map((/** @type {number[]} */ { length }) => length - CONTRACT.max_length + ROOM);
}
