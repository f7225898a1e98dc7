/** Embed texts sparsely: index.d.ts documents it. */

import { checkedCourse, checkedText } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { OpenModel, openModel } from "./open-model.js";
import { checkedPath } from "./open-options.js";
import { DOCUMENT_PROMPT, QUERY_PROMPT } from "./prompts.js";
import { checkedVector, sparseOf } from "./sparse-vector.js";
import { vectorsOf } from "./windows.js";

/** @import * as api from "../index.d.ts" */
/** @import { Model } from "./model.js" */
/** @import { RemoteModel } from "./remote-model.js" */
/** @import { RemoteModels } from "./remote-models.js" */

/**
 * @extends {OpenModel<api.SparseVector>}
 * @implements {api.SparseEmbedder}
 */
export class SparseEmbedder extends OpenModel {
  #path;
  /** @type {string[] | undefined} */
  #vocabulary;

  /** @protected @override */
  _vectorOf = sparseOf;

  /**
   * For `open` alone.
   *
   * @param {Model | RemoteModel | RemoteModels} model
   * @param {string} path
   */
  constructor(model, path) {
    super(model);
    this.dimension = CONTRACT.output.dimension;
    this.prompts = CONTRACT.prompts;
    this.#path = path;
  }

  /**
   * @param {string | api.FileURL} path
   * @param {api.SparseEmbedderOptions} [options]
   */
  static async open(path, options) {
    return new SparseEmbedder(await openModel(path, options), checkedPath(path));
  }

  /**
   * @param {api.Texts} texts
   * @param {api.EmbedOptions} [options]
   */
  embed(texts, options) {
    return this._vectors(texts, () => checkedCourse(options, "prompt", "signal", "progress"));
  }

  /**
   * @param {api.Texts | AsyncIterable<string>} texts
   * @param {api.EmbedEachOptions} [options]
   */
  embedEach(texts, options) {
    return this._each(texts, () => checkedCourse(options, "prompt", "signal"));
  }

  /** @param {string} text */
  async embedQuery(text) {
    const [vector] = await this._call(async (model) => {
      const rows = await model.pack([checkedText(text)], QUERY_PROMPT);
      return vectorsOf(model, rows, QUERY_PROMPT, sparseOf);
    });
    return vector;
  }

  /**
   * @param {api.Texts} texts
   * @param {api.CallOptions} [options]
   */
  embedQueries(texts, options) {
    return this._vectors(texts, () => ({
      ...checkedCourse(options, "signal", "progress"),
      prompt: QUERY_PROMPT,
    }));
  }

  /**
   * @param {api.Texts} texts
   * @param {api.CallOptions} [options]
   */
  embedDocuments(texts, options) {
    return this._vectors(texts, () => ({
      ...checkedCourse(options, "signal", "progress"),
      prompt: DOCUMENT_PROMPT,
    }));
  }

  /**
   * @param {api.SparseVector} vector
   * @param {api.TokensOptions} [options]
   */
  tokens(vector, options) {
    return this._call(async () => {
      const checked = checkedVector(vector);
      const { top } = checkedCourse(options, "top");
      // With a worker nothing else loads tokenizers in this thread.
      const { readVocabulary } = await import("./vocabulary.js");
      this.#vocabulary ??= readVocabulary(this.#path);
      return heaviest(checked, this.#vocabulary).slice(0, top);
    });
  }

  /**
   * @param {api.Texts} texts
   * @param {api.PromptOptions} [options]
   */
  tokenize(texts, options) {
    return this._tokenize(texts, () => checkedCourse(options, "prompt"));
  }

  /**
   * @param {readonly api.TokenIds[]} rows
   * @param {api.PromptOptions} [options]
   */
  embedIds(rows, options) {
    return this._run(rows, () => checkedCourse(options, "prompt"));
  }

  /** @override */
  toString() {
    return `SparseEmbedder(${this.name}, ${this.dimension} elements, ${this.provider}, ${this._state})`;
  }
}

/**
 * The tokens of a vector, the heaviest first; of equal ones the first.
 *
 * @param {api.SparseVector} vector
 * @param {string[]} vocabulary
 * @returns {api.TokenWeight[]}
 */
function heaviest({ indices, values }, vocabulary) {
  const places = [...indices.keys()];
  places.sort((a, b) => values[b] - values[a] || indices[a] - indices[b]);
  return places.map((place) => ({ token: vocabulary[indices[place]], weight: values[place] }));
}
