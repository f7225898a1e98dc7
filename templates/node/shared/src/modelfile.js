/** Read a model file's head: all that stands before the graph. */

import { isAscii } from "node:buffer";
import { createHash } from "node:crypto";
import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { getSystemErrorMap } from "node:util";
import { CONTRACT } from "./contract.js";
import { ModelError } from "./errors.js";

const KEYS = ["polybake.manifest", "polybake.tokenizer", "polybake.fixture", "polybake.digests"];

// Tags of protobuf: a field's number, and the wire type of a length and so many bytes.
// Source: onnx.proto, ModelProto.metadata_props and StringStringEntryProto.
const METADATA_PROPS = 0x72;
const KEY = 0x0a;
const VALUE = 0x12;

/** Bytes of a tag and of the longest length, which is more than a file of 2 GiB needs. */
const LONGEST_FIELD_START = 6;

/**
 * Read and check the head, a few hundred kilobytes; the graph is left alone.
 *
 * @param {string} path
 * @throws {ModelError} not a model file, damaged, of a newer format, or with another contract
 */
export function readHead(path) {
  const { values, tailOffset, tailLength } = readValues(path);
  const [manifest, tokenizer, fixture, digestsJson] = KEYS.map((key) => {
    const value = values.get(key);
    if (!value) throw new ModelError(`has no ${key}; write the file with: polybake bake`);
    return value;
  });
  const digests = parseDigests(digestsJson);
  if (tailLength !== digests.tail_length) {
    const sizes = `${tailLength} bytes after its head, expected ${digests.tail_length}`;
    throw new ModelError(`has ${sizes}; copy the file again`);
  }
  checkDigest("polybake.manifest", sha256(manifest), digests.manifest);
  checkDigest("polybake.tokenizer", sha256(tokenizer), digests.tokenizer);
  checkDigest("polybake.fixture", sha256(fixture), digests.fixture);
  const { name, fingerprint } = parseManifest(manifest);
  const tail = { tailOffset, tailDigest: digests.tail };
  return { name, fingerprint, tokenizer: tokenizer.toString(), fixture, ...tail };
}

/**
 * Hash the graph and compare; about a second for 2 GB.
 *
 * @param {string} path
 * @param {{ tailOffset: number, tailDigest: string }} head
 * @throws {ModelError} the digest differs
 */
export async function checkTail(path, { tailOffset, tailDigest }) {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { start: tailOffset })) hash.update(chunk);
  checkDigest("the graph", hash.digest("hex"), tailDigest);
}

/**
 * JSON that polybake wrote, which is ASCII; undefined where it is no such thing.
 *
 * @param {Buffer} bytes
 * @returns {any}
 */
export function parseJson(bytes) {
  try {
    return isAscii(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What went wrong with a file, with its path before it.
 *
 * @param {string} path
 * @param {any} error
 */
export function located(path, error) {
  const reason = getSystemErrorMap().get(error.errno)?.[1];
  if (!reason && !(error instanceof ModelError)) return error;
  const message = reason
    ? `cannot be read (${reason}); give the path of a baked .onnx file`
    : error.message;
  return new ModelError(`${path}: ${message}`, { cause: error.cause ?? error });
}

/**
 * The values of our keys, and where the tail stands.
 *
 * @param {string} path
 */
export function readValues(path) {
  const file = openSync(path, "r");
  try {
    return walk(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Pass over the entries that a file begins with.
 *
 * @param {number} file
 */
function walk(file) {
  const { size } = fstatSync(file);
  /** @type {Map<string, Buffer>} */
  const values = new Map();
  let position = 0;
  while (bytesAt(file, position, position + 1)[0] === METADATA_PROPS) {
    const entry = fieldAt(file, position, size, METADATA_PROPS);
    const key = entry && fieldAt(file, entry.start, entry.end, KEY);
    const value = key && fieldAt(file, key.end, entry.end, VALUE);
    if (!value || value.end !== entry.end) {
      throw new ModelError(`is not a whole ONNX file (byte ${position}); copy the file again`);
    }
    const name = bytesAt(file, key.start, key.end).toString();
    if (values.has(name)) {
      throw new ModelError(`${name} occurs twice; copy the original file again`);
    }
    if (KEYS.includes(name)) values.set(name, bytesAt(file, value.start, value.end));
    position = entry.end;
  }
  return { values, tailOffset: position, tailLength: size - position };
}

/**
 * Where the content of the field at `position` stands.
 *
 * @param {number} file
 * @param {number} position
 * @param {number} limit the field must end there or before
 * @param {number} tag
 * @returns {{ start: number, end: number } | undefined} undefined where no such field is whole
 */
function fieldAt(file, position, limit, tag) {
  const bytes = bytesAt(file, position, Math.min(position + LONGEST_FIELD_START, limit));
  const last = bytes.findIndex((byte, index) => index > 0 && byte < 0x80);
  const varint = bytes.subarray(1, last + 1);
  const length = varint.reduceRight((high, byte) => high * 0x80 + (byte & 0x7f), 0);
  const start = position + last + 1;
  const whole = bytes[0] === tag && last > 0 && start + length <= limit;
  return whole ? { start, end: start + length } : undefined;
}

/**
 * @param {number} file
 * @param {number} start
 * @param {number} end
 */
function bytesAt(file, start, end) {
  const bytes = Buffer.alloc(end - start);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
}

/** @param {Buffer} bytes */
function parseDigests(bytes) {
  const digests = parseJson(bytes) ?? {};
  const { tail, tail_length, manifest, tokenizer, fixture } = digests;
  const texts = [tail, manifest, tokenizer, fixture].every((text) => typeof text === "string");
  if (!texts || !Number.isInteger(tail_length) || tail_length < 1) {
    throw new ModelError("polybake.digests is damaged; copy the file again");
  }
  return digests;
}

/**
 * @param {string} part
 * @param {string} found
 * @param {string} expected
 */
function checkDigest(part, found, expected) {
  if (found !== expected) {
    throw new ModelError(`${part} does not match its digest; copy the file again`);
  }
}

/** @param {Buffer} bytes */
function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

/** @param {Buffer} bytes */
function parseManifest(bytes) {
  const manifest = parseJson(bytes) ?? {};
  const { format, name, fingerprint, contract, generator = "an unknown version" } = manifest;
  if (Number.isInteger(format) && format > 1) {
    const remedy = `use polybake ${generator}, which wrote it`;
    throw new ModelError(`manifest format ${format} is newer than 1; ${remedy}`);
  }
  const isContract = Object.prototype.toString.call(contract) === "[object Object]";
  const isNamed = typeof name === "string" && typeof fingerprint === "string";
  if (format !== 1 || !isNamed || !isContract) {
    throw new ModelError("polybake.manifest is damaged; bake the model again");
  }
  checkContract(contract);
  return manifest;
}

/** @param {object} contract */
function checkContract(contract) {
  const expected = new Map(fieldsOf(CONTRACT));
  const found = new Map(fieldsOf(contract));
  for (const field of new Set([...expected.keys(), ...found.keys()])) {
    const [wanted, actual] = [expected.get(field) ?? "nothing", found.get(field) ?? "nothing"];
    if (wanted !== actual) {
      const difference = `contract field ${field}: expected ${wanted}, found ${actual}`;
      throw new ModelError(`${difference}; regenerate the client with: polybake generate`);
    }
  }
}

/**
 * Flatten a contract to pairs such as `inputs[0].name` and its value as JSON.
 *
 * @param {unknown} value
 * @param {string} [path]
 * @returns {[path: string, json: string][]}
 */
function fieldsOf(value, path = "") {
  if (typeof value !== "object" || value === null) return [[path, JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, item]) => {
    if (Array.isArray(value)) return fieldsOf(item, `${path}[${key}]`);
    return fieldsOf(item, path === "" ? key : `${path}.${key}`);
  });
}
