/** Answers to requests of the harness protocol. */

import { DeviceError, InvalidTextError, ModelError, UnknownPromptError } from "../src/index.js";
import { asciiJson } from "./ascii-json.js";
import { COMMANDS, open } from "./commands.js";

/** @import { Device } from "../src/arguments.js" */
/** @typedef {Awaited<ReturnType<typeof open>>} Model what is open */

/**
 * A line of standard input; which fields are there depends on `cmd`.
 *
 * @typedef {object} Request
 * @property {string} cmd
 * @property {number} seq
 * @property {string} model
 * @property {Device} device
 * @property {any[]} texts strings, or pairs of them
 * @property {number[][]} input_ids
 * @property {number[][]} type_ids
 * @property {string | null} prompt
 * @property {string} query
 * @property {string[]} documents
 * @property {string[]} labels
 * @property {string} template
 * @property {boolean} multi_label
 * @property {number} top
 * @property {string[]} aggregations
 * @property {string} question
 * @property {string[]} contexts
 * @property {boolean} no_answer
 */

/**
 * What may be asked of a model.
 *
 * @type {Record<string, (model: Model, request: Request) => Promise<unknown>>}
 */
const KNOWN = { ...COMMANDS, self_check: (model) => model.selfCheck() };

/**
 * Makes a device ready, and says which client runs on it.
 *
 * @typedef {(request: Request) => Promise<{ client: object, proven_by: string }>} Begin
 */

/** @type {Model | undefined} */
let model;

/** The answer to a request, as a line. @param {Request} request @param {Begin} begin */
export async function answerTo(request, begin) {
  return asciiJson({ seq: request.seq, ...(await respond(request, begin)) });
}

/** @param {Request} request @param {Begin} begin */
async function respond(request, begin) {
  try {
    if (request.cmd === "start") return { results: await start(request, begin) };
    if (request.cmd === "stop") return { results: await stop() };
    if (!Object.hasOwn(KNOWN, request.cmd)) {
      return { skipped: true, reason: `unknown command ${request.cmd}` };
    }
    if (!model) throw new Error("no model is open; send start first");
    return { results: await KNOWN[request.cmd](model, request) };
  } catch (error) {
    return failure(/** @type {Error} */ (error));
  }
}

/** @param {Request} request @param {Begin} begin */
async function start(request, begin) {
  await stop();
  const { client, proven_by } = await begin(request);
  model = await open(request.model, request.device);
  const { name, fingerprint, provider } = model;
  return {
    protocol: 1,
    client,
    name,
    fingerprint,
    provider: { requested: request.device, active: provider, proven_by },
    capabilities: Object.keys(KNOWN),
  };
}

async function stop() {
  await model?.close();
  return null;
}

/** @param {Error} error */
function failure(error) {
  return { errored: true, message: error.message, ...kindOf(error) };
}

/** @param {Error} error */
function kindOf(error) {
  if (error instanceof InvalidTextError) return { kind: "invalid_text", index: error.index };
  if (error instanceof UnknownPromptError) return { kind: "unknown_prompt" };
  if (error instanceof ModelError) return { kind: "wrong_model" };
  if (error instanceof DeviceError) return { kind: "device" };
  return { kind: "internal" };
}
