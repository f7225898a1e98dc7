/** What a model file may be opened with. */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkedOptions, isWhole, numberOr, typeOf } from "./arguments.js";
import { DeviceError } from "./errors.js";
import { countProcessors } from "./processors.js";

/** @import { Device } from "./api.d.ts" */

/** @type {readonly unknown[]} */
const DEVICES = ["cpu", "cuda"];

/**
 * The path from the root on: the file is read again when the directory may be another.
 *
 * @param {any} path
 * @returns {string}
 */
export function checkedPath(path) {
  if (typeof path === "string") return resolve(path);
  if (path?.protocol === "file:") return fileURLToPath(path);
  throw new TypeError(`path is ${typeOf(path)}; expected a path`);
}

/**
 * @typedef {object} OpenOptions
 * @property {Device} device
 * @property {number | undefined} threads
 * @property {boolean} spin
 * @property {boolean} worker
 * @property {number} concurrency
 */

const NAMES = ["device", "threads", "spin", "worker", "concurrency"];

/**
 * @param {unknown} options
 * @returns {OpenOptions}
 */
export function checkedOpenOptions(options) {
  const {
    device = "cpu",
    spin = false,
    worker = false,
    ...counts
  } = checkedOptions(options, '{ device: "cpu" }', NAMES);
  if (!DEVICES.includes(device)) {
    const name = typeof device === "string" ? device : typeOf(device);
    throw new DeviceError(`unknown device "${name}"; choose one of: ${DEVICES.join(", ")}`);
  }
  for (const [name, value] of Object.entries({ spin, worker })) {
    if (typeof value !== "boolean") {
      throw new TypeError(`${name} is ${typeOf(value)}; expected true or false`);
    }
  }
  const concurrency = checkedCount("concurrency", counts.concurrency) ?? 1;
  if (concurrency > 1 && !worker) {
    const remedy = "expected 1, or worker: true beside it";
    throw new RangeError(`concurrency is ${concurrency}; ${remedy}`);
  }
  const threads = checkedCount("threads", counts.threads) ?? threadsOfEach(concurrency);
  return { device, threads, spin, worker, concurrency };
}

/**
 * A number of processors that the process may use, if any was given.
 *
 * @param {string} name
 * @param {unknown} value
 */
function checkedCount(name, value) {
  if (value === undefined || value === null) return undefined;
  if (!isWhole(value)) {
    throw new TypeError(`${name} is ${numberOr(value)}; expected a whole number`);
  }
  const { usable } = countProcessors();
  if (value < 1 || value > usable) {
    const range = `1 to ${usable}, the processors that this process may use`;
    throw new RangeError(`${name} is ${value}; expected ${range}`);
  }
  return value;
}

/**
 * Sessions that run side by side share the processors; for one alone onnxruntime knows best.
 *
 * @param {number} concurrency
 */
function threadsOfEach(concurrency) {
  if (concurrency === 1) return undefined;
  return Math.floor(countProcessors().usable / concurrency);
}
