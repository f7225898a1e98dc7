/** Run the graph. */

import { Tensor } from "onnxruntime-node";
import { DeviceError, ModelError } from "./errors.js";
import { feedsOf } from "./feeds.js";
import { batchOf, NAMES } from "./outputs.js";

/** @import { InferenceSession } from "onnxruntime-node" */
/** @import { Batch } from "./outputs.js" */
/** @import { Rows } from "./rows.js" */

/** An onnxruntime session, and the execution provider that is proven to run it. */
export class Graph {
  #session;

  /**
   * @param {InferenceSession} session
   * @param {string} provider
   */
  constructor(session, provider) {
    this.#session = session;
    this.provider = provider;
  }

  /**
   * Run one batch; the thread stands still meanwhile.
   *
   * @param {Rows} rows
   * @param {number[]} places the rows of the batch
   * @param {string | null} prompt
   * @returns {Promise<Batch>}
   */
  async run(rows, places, prompt) {
    const inputs = feedsOf(rows, places, prompt);
    const feeds = inputs.map((feed) => [feed.name, new Tensor("int64", feed.data, feed.dims)]);
    const run = this.#session.run(Object.fromEntries(feeds), NAMES);
    const outputs = await run.catch((error) => {
      const message = `onnxruntime cannot run the graph: ${error.message}`;
      // What fails on a GPU, checked ids given, is the GPU: mostly its memory.
      const Failure = this.provider === "CPUExecutionProvider" ? ModelError : DeviceError;
      throw new Failure(message, { cause: error });
    });
    return batchOf(outputs, places.length);
  }

  async release() {
    await this.#session.release();
  }
}
