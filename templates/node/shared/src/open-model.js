/** A model file, opened: what the clients of every task do. */

import { checkedRows, checkedSource, checkedText, checkedTexts } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { ClosedError } from "./errors.js";
import { checkedOpenOptions, checkedPath } from "./open-options.js";
import { copyOf } from "./outputs.js";
import { packed } from "./rows.js";
import { warnOfTelemetry } from "./telemetry.js";
import { vectorsOf, vectorsOfEach, windowsOf } from "./windows.js";

/** @import * as api from "./api.d.ts" */
/** @import { Model } from "./model.js" */
/** @import { RemoteModel } from "./remote-model.js" */
/** @import { RemoteModels } from "./remote-models.js" */
/** @import { Course, TextsOf } from "./windows.js" */

/**
 * Open a model file, in this thread or in others.
 *
 * @param {string | api.FileURL} path
 * @param {api.OpenOptions} [options]
 * @returns {Promise<Model | RemoteModel | RemoteModels>}
 */
export async function openModel(path, options) {
  const file = checkedPath(path);
  const checked = checkedOpenOptions(options);
  warnOfTelemetry();
  if (checked.concurrency > 1) {
    const { RemoteModels } = await import("./remote-models.js");
    return RemoteModels.open(file, checked);
  }
  if (checked.worker) {
    const { RemoteModel } = await import("./remote-model.js");
    return RemoteModel.open(file, checked);
  }
  const { Model } = await import("./model.js");
  return Model.open(file, checked);
}

/**
 * The base of the class of each task. What its calls are given is judged within them, so that after
 * `close` every call is a ClosedError.
 *
 * @template [T=api.Vector] what callers get of a text
 * @implements {api.OpenModel}
 */
export class OpenModel {
  #model;
  /** @type {Set<Promise<unknown>>} */
  #calls = new Set();
  /** @type {Promise<void> | undefined} */
  #closing;

  /**
   * Makes what callers get of a text, of what the graph gives for it.
   *
   * @protected
   * @type {(elements: api.Vector) => T}
   */
  _vectorOf = /** @type {any} */ (copyOf);

  /** @param {Model | RemoteModel | RemoteModels} model */
  constructor(model) {
    if (!model?.facts) {
      const Class = new.target.name;
      throw new TypeError(`${Class} is opened, not made; call: await ${Class}.open(path)`);
    }
    const { name, fingerprint, provider } = model.facts;
    this.name = name;
    this.fingerprint = fingerprint;
    this.maxLength = CONTRACT.max_length;
    this.provider = provider;
    this.#model = model;
  }

  selfCheck() {
    return this._call((model) => model.selfCheck());
  }

  close() {
    this.#closing ??= Promise.allSettled(this.#calls).then(() => this.#model.release());
    return this.#closing;
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }

  [Symbol.for("nodejs.util.inspect.custom")]() {
    return this.toString();
  }

  /** @protected */
  get _state() {
    return this.#closing ? "closed" : "open";
  }

  /**
   * @protected
   * @param {unknown} texts
   * @returns {any[]} what rows are made of
   */
  _checked(texts) {
    return checkedTexts(texts);
  }

  /**
   * @protected
   * @param {unknown} rows
   */
  _checkedRows(rows) {
    return checkedRows(rows);
  }

  /**
   * @protected
   * @param {Iterable<unknown>} texts
   * @param {() => Pick<Course, "prompt">} check
   */
  _tokenize(texts, check) {
    return this._call(async (model) => model.tokenize(this._checked(texts), check().prompt));
  }

  /**
   * Run rows of token ids as one batch.
   *
   * @protected
   * @param {readonly unknown[]} rows
   * @param {() => Pick<Course, "prompt">} check
   */
  _run(rows, check) {
    return this._call(async (model) => {
      const ids = packed(this._checkedRows(rows));
      const { prompt } = check();
      return vectorsOf(model, ids, prompt, this._vectorOf, { budget: Infinity });
    });
  }

  /**
   * The vectors of texts, in their order.
   *
   * @protected
   * @param {Iterable<unknown>} texts
   * @param {() => Course} check
   */
  _vectors(texts, check) {
    return this._call(async (model) => {
      const windows = windowsOf(this._checked(texts), (text) => [text]);
      /** @type {T[]} */
      const vectors = [];
      for await (const some of vectorsOfEach(model, windows, check(), this._vectorOf)) {
        for (const vector of some) vectors.push(vector);
      }
      return vectors;
    });
  }

  /**
   * The same of a stream, one text after another.
   *
   * @protected
   * @param {api.Texts | AsyncIterable<string>} texts
   * @param {() => Course} check
   * @param {TextsOf} [textsOf]
   */
  _each(texts, check, textsOf = textOf) {
    if (this.#closing) throw new ClosedError();
    const source = checkedSource(texts, Symbol.asyncIterator, Symbol.iterator);
    const course = check();
    return this.#each(windowsOf(source, textsOf, course.signal), course);
  }

  /**
   * Start a call, whose end `close` awaits.
   *
   * @protected
   * @template T
   * @param {(model: Model | RemoteModel | RemoteModels) => Promise<T>} work
   */
  async _call(work) {
    if (this.#closing) throw new ClosedError();
    const call = work(this.#model);
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  /**
   * @param {ReturnType<typeof windowsOf>} windows
   * @param {Course} course
   * @returns {AsyncGenerator<T, void, undefined>}
   */
  async *#each(windows, course) {
    // A stream that nobody reads on must not keep `close` waiting, so a call is one window's.
    /** @type {Pick<Model, "pack" | "run">} */
    const calls = {
      pack: (...args) => this._call((model) => model.pack(...args)),
      run: (...args) => this._call((model) => model.run(...args)),
    };
    for await (const some of vectorsOfEach(calls, windows, course, this._vectorOf)) yield* some;
  }
}

/**
 * @param {unknown} text
 * @param {number} index
 * @returns {any[]}
 */
function textOf(text, index) {
  return [checkedText(text, "texts", index)];
}
