/** What calls may be given; anything else is an error before any work begins. */

import { types } from "node:util";
import { CONTRACT } from "./contract.js";
import { InvalidIdsError, InvalidTextError, UnknownPromptError } from "./errors.js";
import { ONE_TEXT } from "./words.js";

/** @import { Course } from "./windows.js" */

/** An example of options, by the first one that a call knows. */
const EXAMPLES = {
  prompt: '{ prompt: "query" }',
  top: "{ top: 3 }",
  signal: "{ progress: console.log }",
};

/**
 * What the options of a call say, those alone that it knows.
 *
 * @param {unknown} options
 * @param {keyof typeof EXAMPLES} first
 * @param {...string} others
 * @returns {Course}
 */
export function checkedCourse(options, first, ...others) {
  const known = [first, ...others];
  const { prompt, top, signal, progress } = checkedOptions(options, EXAMPLES[first], known);
  return {
    top: checkedTop(top ?? undefined),
    prompt: checkedPrompt(prompt),
    signal: checkedSignal(signal ?? undefined),
    progress: checkedProgress(progress ?? undefined),
  };
}

/** @param {any} top */
function checkedTop(top) {
  if (top === undefined) return undefined;
  if (!isWhole(top)) {
    throw new TypeError(`top is ${numberOr(top)}; expected a whole number`);
  }
  if (top < 1) throw new RangeError(`top is ${top}; expected 1 or more`);
  return top;
}

/** @param {any} signal */
function checkedSignal(signal) {
  if (signal === undefined) return undefined;
  if (typeof signal.throwIfAborted !== "function") {
    throw new TypeError(`signal is ${typeOf(signal)}; expected an AbortSignal`);
  }
  signal.throwIfAborted();
  return signal;
}

/** @param {any} progress */
function checkedProgress(progress) {
  if (progress === undefined || typeof progress === "function") return progress;
  throw new TypeError(`progress is ${typeOf(progress)}; expected a function`);
}

/**
 * The prompt of that name, or the model's default.
 *
 * @param {unknown} prompt
 * @returns {string | null}
 */
function checkedPrompt(prompt) {
  if (prompt === undefined || prompt === null) return CONTRACT.default_prompt;
  if (typeof prompt !== "string") {
    throw new TypeError(`prompt is ${typeOf(prompt)}; expected a string`);
  }
  if (!Object.hasOwn(CONTRACT.prompts, prompt)) {
    const names = Object.keys(CONTRACT.prompts).join(", ");
    const remedy = names === "" ? "this model has none" : `choose one of: ${names}`;
    throw new UnknownPromptError(`unknown prompt "${prompt}"; ${remedy}`);
  }
  return prompt;
}

/**
 * @param {any} options
 * @param {string} example
 * @param {string[]} known
 * @returns {any}
 */
export function checkedOptions(options = {}, example, known) {
  if (typeOf(options) !== "Object") {
    throw new TypeError(`expected options such as ${example}, got ${typeOf(options)}`);
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new TypeError(`unknown option "${key}"; choose one of: ${known.join(", ")}`);
    }
  }
  return options;
}

/**
 * @param {any} texts
 * @param {string} [name] what the call names them
 * @returns {string[]}
 */
export function checkedTexts(texts, name = "texts") {
  return Array.from(checkedSource(texts, Symbol.iterator), (text, index) =>
    checkedText(text, name, index),
  );
}

/**
 * Texts that are still to come, whatever they will be.
 *
 * @param {any} texts
 * @param {...symbol} ways how they may be taken, one after another
 */
export function checkedSource(texts, ...ways) {
  if (typeof texts === "string" || types.isStringObject(texts)) {
    throw new TypeError(`expected a list of texts, got a string; ${ONE_TEXT}`);
  }
  if (types.isSet(texts) || types.isMap(texts)) {
    const remedy = "give a list, whose order the vectors have";
    throw new TypeError(`expected a list of texts, got ${typeOf(texts)}; ${remedy}`);
  }
  if (!ways.some((way) => typeof texts?.[way] === "function")) {
    throw new TypeError(`expected a list of texts, got ${typeOf(texts)}`);
  }
  return texts;
}

/**
 * @param {any} text
 * @param {string} [name] what the call names it, or the list that it came from
 * @param {number} [index] its place in that list
 * @returns {string}
 */
export function checkedText(text, name = "text", index) {
  if (typeof text === "string" && text.isWellFormed()) return text;
  const place = index === undefined ? name : `${name}[${index}]`;
  if (typeof text !== "string") {
    throw new TypeError(`${place} is ${typeOf(text)}; expected a string`);
  }
  throw new InvalidTextError(`${place} is not valid Unicode; repair or drop it`, index ?? 0);
}

/**
 * @param {any} rows
 * @returns {number[][]}
 */
export function checkedRows(rows) {
  if (!Array.isArray(rows)) {
    throw new TypeError(`expected rows of token ids, got ${typeOf(rows)}`);
  }
  return Array.from(rows, (row, number) => {
    if (!isList(row)) {
      throw new TypeError(`rows[${number}] is ${typeOf(row)}; expected a list of token ids`);
    }
    if (row.length > CONTRACT.max_length) {
      const fault = `has ${row.length} ids; expected at most ${CONTRACT.max_length}`;
      throw new InvalidIdsError(`rows[${number}] ${fault}`, number);
    }
    return Array.from(row, (id, position) => checkedId(id, number, position));
  });
}

/**
 * @param {unknown} value
 * @param {number} row
 * @param {number} position
 */
function checkedId(value, row, position) {
  // An int64 tensor of onnxruntime holds a BigInt64Array.
  const id = typeof value === "bigint" ? Number(value) : value;
  if (isWhole(id) && id >= 0 && id < CONTRACT.vocab_size) return id;
  const range = `a whole number from 0 to ${CONTRACT.vocab_size - 1}`;
  const fault = `rows[${row}][${position}] is ${numberOr(id)}; expected ${range}`;
  throw new InvalidIdsError(fault, row);
}

/** @param {unknown} value */
export function isList(value) {
  return Array.isArray(value) || types.isTypedArray(value);
}

/**
 * @param {unknown} value
 * @returns {value is number}
 */
export function isWhole(value) {
  return Number.isInteger(value);
}

/**
 * A number as it is, anything else by its type.
 *
 * @param {unknown} value
 */
export function numberOr(value) {
  return typeof value === "number" ? value : typeOf(value);
}

/**
 * A value's type, as an error names it: `number`, `null`, `Map`.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function typeOf(value) {
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}
