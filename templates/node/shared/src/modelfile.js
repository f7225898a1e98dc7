/** A model file's head: all that stands before the graph. */

import { isAscii } from "node:buffer";
import { createHash } from "node:crypto";
import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { getSystemErrorMap } from "node:util";
import { typeOf } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { ModelError } from "./errors.js";

/** @import { Fixture } from "./self-check.js" */

const KEYS = ["polybake.manifest", "polybake.tokenizer", "polybake.fixture", "polybake.digests"];

// Tags of protobuf: ModelProto.metadata_props, and key and value of such an entry.
const [ENTRY, KEY, VALUE] = [0x72, 0x0a, 0x12];

/** Bytes of a tag and of a length, which has at most five of seven bits each. */
const FIELD_START = 6;

/** Read and check the head, a few hundred kilobytes. @param {string} path */
export function readHead(path) {
  const { values, tailOffset, tailLength } = readValues(path);
  const [manifest, tokenizer, fixture, digestsJson] = KEYS.map((key) => {
    const value = values.get(key);
    if (!value) throw new ModelError(`has no ${key}; write the file with: polybake bake`);
    return value;
  });
  const digests = parseJson(digestsJson);
  const { tail, tail_length } = digests;
  const texts = [tail, digests.manifest, digests.tokenizer, digests.fixture];
  const areWhole = texts.every((text) => typeof text === "string");
  if (!areWhole || !Number.isInteger(tail_length) || tail_length < 1) {
    throw new ModelError("polybake.digests is damaged; copy the file again");
  }
  if (tailLength !== tail_length) {
    const sizes = `${tailLength} bytes after its head, expected ${tail_length}`;
    throw new ModelError(`has ${sizes}; copy the file again`);
  }
  checkDigest("polybake.manifest", sha256().update(manifest), digests.manifest);
  checkDigest("polybake.tokenizer", sha256().update(tokenizer), digests.tokenizer);
  checkDigest("polybake.fixture", sha256().update(fixture), digests.fixture);
  const { name, fingerprint } = checkedManifest(parseJson(manifest));
  return { name, fingerprint, tokenizer: tokenizer.toString(), fixture, tail, tailOffset };
}

/** Hash the graph: a second for 2 GB. @param {string} path @param {ReturnType<typeof readHead>} head */
export async function checkGraph(path, { tail, tailOffset }) {
  const hash = sha256();
  for await (const chunk of createReadStream(path, { start: tailOffset })) hash.update(chunk);
  checkDigest("the graph", hash, tail);
}

/** JSON that polybake wrote, which is ASCII; else an empty object. @type {(bytes: Buffer) => any} */
export function parseJson(bytes) {
  try {
    return (isAscii(bytes) && JSON.parse(bytes.toString())) || {};
  } catch {
    return {};
  }
}

/** The golden cases. @type {(bytes: Buffer) => Fixture} */
export function parseFixture(bytes) {
  const fixture = parseJson(bytes);
  if (fixture.format === 1 && Array.isArray(fixture.cases)) return fixture;
  throw new ModelError("polybake.fixture is damaged; bake the model again");
}

/** What went wrong with a file, with its path before it. @type {(path: string, error: any) => any} */
export function located(path, error) {
  const reason = getSystemErrorMap().get(error.errno)?.[1];
  if (!reason && !(error instanceof ModelError)) return error;
  const unread = `cannot be read (${reason}); give the path of a baked .onnx file`;
  const message = `${path}: ${reason ? unread : error.message}`;
  return new ModelError(message, { cause: error.cause ?? error });
}

/** The values of our keys, and where the graph stands. @param {string} path */
export function readValues(path) {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    /** @type {Map<string, Buffer>} */
    const values = new Map();
    let position = 0;
    for (;;) {
      const start = bytesAt(file, position, FIELD_START);
      const left = size - position;
      if (start[0] !== ENTRY) return { values, tailOffset: position, tailLength: left };
      const entry = fieldOf(start, ENTRY, left);
      const bytes = bytesAt(file, position + (entry?.start ?? 0), entry?.length ?? 0);
      const key = fieldOf(bytes, KEY);
      const rest = bytes.subarray(key?.end);
      const value = fieldOf(rest, VALUE);
      if (!entry || !key || value?.end !== rest.length) {
        throw new ModelError(`is not a whole ONNX file (byte ${position}); copy the file again`);
      }
      const name = bytes.toString("utf8", key.start, key.end);
      if (values.has(name)) {
        throw new ModelError(`${name} occurs twice; copy the original file again`);
      }
      if (KEYS.includes(name)) values.set(name, rest.subarray(value.start));
      position += entry.end;
    }
  } finally {
    closeSync(file);
  }
}

/** Where a field stands that bytes begin with. @param {Buffer} bytes @param {number} tag */
function fieldOf(bytes, tag, limit = bytes.length) {
  const last = bytes.subarray(0, FIELD_START).findIndex((byte, at) => at > 0 && byte < 0x80);
  const varint = bytes.subarray(1, last + 1);
  const length = varint.reduceRight((high, byte) => high * 0x80 + (byte & 0x7f), 0);
  const [start, end] = [last + 1, last + 1 + length];
  return bytes[0] === tag && last > 0 && end <= limit ? { start, length, end } : undefined;
}

/** @type {(file: number, start: number, length: number) => Buffer} */
function bytesAt(file, start, length) {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, start));
}

const sha256 = () => createHash("sha256");

/** @type {(part: string, found: ReturnType<typeof sha256>, expected: string) => void} */
function checkDigest(part, found, expected) {
  if (found.digest("hex") === expected) return;
  throw new ModelError(`${part} does not match its digest; copy the file again`);
}

/** @param {any} manifest */
function checkedManifest(manifest) {
  const { format, name, fingerprint, contract, generator = "an unknown version" } = manifest;
  if (Number.isInteger(format) && format > 1) {
    const remedy = `use polybake ${generator}, which wrote it`;
    throw new ModelError(`manifest format ${format} is newer than 1; ${remedy}`);
  }
  const kinds = [typeOf(name), typeOf(fingerprint), typeOf(contract)];
  if (format !== 1 || kinds.join() !== "string,string,Object") {
    throw new ModelError("polybake.manifest is damaged; bake the model again");
  }
  checkContract("", CONTRACT, contract);
  return manifest;
}

/** Refuse the first field that differs. @type {(field: string, ...both: any[]) => void} */
function checkContract(field, ...both) {
  const [kind, other] = both.map(typeOf);
  if (kind === other && (kind === "Object" || kind === "Array")) {
    const [expected, found] = both.map((part) => new Map(Object.entries(part)));
    for (const key of new Set([...expected.keys(), ...found.keys()])) {
      const below = kind === "Array" ? `${field}[${key}]` : `${field && `${field}.`}${key}`;
      checkContract(below, expected.get(key), found.get(key));
    }
    return;
  }
  // JSON has no undefined: a field that is missing.
  const [wanted, actual] = both.map((value) => JSON.stringify(value) ?? "nothing");
  if (wanted === actual) return;
  const difference = `contract field ${field}: expected ${wanted}, found ${actual}`;
  throw new ModelError(`${difference}; regenerate the client with: polybake generate`);
}
