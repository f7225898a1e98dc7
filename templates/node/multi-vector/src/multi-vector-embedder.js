/** Embed texts token by token: index.d.ts documents it. */

import { checkedCourse, checkedText } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { checkedVectors, maxSim } from "./multi-vector.js";
import { OpenModel, openModel } from "./open-model.js";
import { copyOf } from "./outputs.js";
import { DOCUMENT_PROMPT, QUERY_PROMPT } from "./prompts.js";
import { vectorsOf } from "./windows.js";

/** @import * as api from "../index.d.ts" */
/** @import { Model } from "./model.js" */
/** @import { RemoteModel } from "./remote-model.js" */
/** @import { RemoteModels } from "./remote-models.js" */

/**
 * @extends {OpenModel<api.MultiVector>}
 * @implements {api.MultiVectorEmbedder}
 */
export class MultiVectorEmbedder extends OpenModel {
  /**
   * For `open` alone.
   *
   * @param {Model | RemoteModel | RemoteModels} model
   */
  constructor(model) {
    super(model);
    this.dimension = CONTRACT.output.dimension;
    this.prompts = CONTRACT.prompts;
  }

  /**
   * @param {string | api.FileURL} path
   * @param {api.MultiVectorEmbedderOptions} [options]
   */
  static async open(path, options) {
    return new MultiVectorEmbedder(await openModel(path, options));
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
      return vectorsOf(model, rows, QUERY_PROMPT, copyOf);
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

  /**
   * @param {readonly Float32Array[]} query
   * @param {readonly Float32Array[]} document
   */
  static maxSim(query, document) {
    return maxSim(checkedVectors(query, "query"), checkedVectors(document, "document"));
  }

  /** @override */
  toString() {
    return `MultiVectorEmbedder(${this.name}, ${this.dimension} elements, ${this.provider}, ${this._state})`;
  }
}
