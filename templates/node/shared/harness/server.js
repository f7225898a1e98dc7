/** Answer requests of the harness protocol. */

import { createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { DeviceError, InvalidTextError, ModelError, UnknownPromptError } from "../src/index.js";
import { COMMANDS, open } from "./commands.js";

/** @import { Device } from "../src/api.d.ts" */
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

/** @type {Model | undefined} */
let model;

/** The real standard output; see harness.js. */
const answers = createWriteStream("", { fd: 3 });

for await (const line of createInterface({ input: process.stdin })) {
  /** @type {Request} */
  const request = JSON.parse(line);
  answers.write(`${asciiJson({ seq: request.seq, ...(await respond(request)) })}\n`);
  if (request.cmd === "stop") break;
}
answers.end();
process.stdin.destroy();

/** @param {Request} request */
async function respond(request) {
  try {
    if (request.cmd === "start") return { results: await start(request) };
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

/** @param {Request} request */
async function start({ model: path, device }) {
  await stop();
  model = await open(path, device);
  return {
    protocol: 1,
    client: {
      language: "node",
      language_version: process.versions.node,
      runtime_version: versionOf("onnxruntime-node"),
      tokenizer_version: versionOf("tokenizers"),
    },
    name: model.name,
    fingerprint: model.fingerprint,
    provider: {
      requested: device,
      active: model.provider,
      proven_by: device === "cpu" ? "append" : "profile",
    },
    capabilities: Object.keys(KNOWN),
  };
}

async function stop() {
  await model?.close();
  return null;
}

/** @param {string} name */
function versionOf(name) {
  return createRequire(import.meta.url)(`${name}/package.json`).version;
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

/**
 * Compact JSON in which every character beyond ASCII is escaped.
 *
 * @param {unknown} value
 */
function asciiJson(value) {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
