/** The model file under test, and small files with its head. */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { parseFixture, readHead, readValues } from "../src/modelfile.js";

if (!process.env.POLYBAKE_MODEL) {
  throw new Error("set POLYBAKE_MODEL to the path of the baked .onnx file");
}

export const modelPath = process.env.POLYBAKE_MODEL;
export const fixture = parseFixture(readHead(modelPath).fixture);

const { values } = readValues(modelPath);
export const manifest = JSON.parse(String(values.get("polybake.manifest")));

/** A folder that is removed when the tests of this process have ended. */
export const folder = mkdtempSync(join(tmpdir(), "model-"));
after(() => rmSync(folder, { recursive: true }));

/** Stands for the graph, which no reader of a head looks into. */
const TAIL = Buffer.from([0x08, 0x08]);

/**
 * Write a small file that begins as the model file does.
 *
 * @param {object} [change]
 * @param {object} [change.contract] what the manifest holds instead
 * @param {string} [change.fingerprint] the same
 * @param {(digests: any) => object} [change.digests] what the digests say instead
 * @returns {string} its path
 */
export function writeFile({ digests = () => ({}), ...change } = {}) {
  const parts = new Map(values).set("polybake.manifest", asciiJson({ ...manifest, ...change }));
  const right = Object.fromEntries(
    [...parts].map(([key, value]) => [key.replace("polybake.", ""), sha256(value)]),
  );
  Object.assign(right, { tail: sha256(TAIL), tail_length: TAIL.length });
  parts.set("polybake.digests", asciiJson({ ...right, ...digests(right) }));
  const path = join(folder, "small.onnx");
  writeFileSync(path, Buffer.concat([...[...parts].map(entryOf), TAIL]));
  return path;
}

/** @param {unknown} value */
function asciiJson(value) {
  const escaped = (/** @type {string} */ character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return Buffer.from(JSON.stringify(value).replace(/[\u0080-\uffff]/g, escaped));
}

/** @param {Buffer} bytes */
function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * An entry of ModelProto.metadata_props.
 *
 * @param {[key: string, value: Buffer]} entry
 */
function entryOf([key, value]) {
  return fieldOf(0x72, Buffer.concat([fieldOf(0x0a, Buffer.from(key)), fieldOf(0x12, value)]));
}

/**
 * A protobuf field: its tag, its length as a varint, its bytes.
 *
 * @param {number} tag
 * @param {Buffer} bytes
 */
function fieldOf(tag, bytes) {
  const start = [tag];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>= 7) start.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...start, rest]), bytes]);
}
