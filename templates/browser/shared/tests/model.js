/** The model file under test, and small files with its head. */

import { Bytes, chunksOf } from "../src/bytes.js";
import { parseFixture, readValues } from "../src/modelfile.js";

export const modelPath = "/model.onnx";
export const modelUrl = new URL(modelPath, location.href);

export const values = await readValues(new Bytes(chunksOf(modelUrl.href)));

const [manifest, tokenizer, digests] = ["manifest", "tokenizer", "digests"].map((key) =>
  JSON.parse(new TextDecoder().decode(values.get(`polybake.${key}`))),
);

export { digests, manifest, tokenizer };
export const fixture = parseFixture(values.get("polybake.fixture") ?? new Uint8Array());

/** Stands for the graph, which no reader of a head looks into. */
const TAIL = Uint8Array.of(0x08, 0x08);

const TAIL_DIGEST = await sha256(TAIL);

/** Of the head's values, which are too long to be hashed again for each file. @type {Map<string, string>} */
const hashes = new Map();
for (const [key, value] of values) hashes.set(key, await sha256(value));

/** @param {Uint8Array} bytes */
export async function sha256(bytes) {
  const digest = await crypto.subtle.digest("SHA-256", /** @type {any} */ (bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A small file that begins as the model file does.
 *
 * @param {object} [change]
 * @param {object} [change.contract] what the manifest holds instead
 * @param {string} [change.fingerprint] the same
 * @param {(digests: any) => object} [change.digests] what the digests say instead
 */
export async function writeFile({ digests: other = () => ({}), ...change } = {}) {
  const changed = asciiJson({ ...manifest, ...change });
  const right = Object.fromEntries(
    [...hashes].map(([key, hash]) => [key.replace("polybake.", ""), hash]),
  );
  Object.assign(right, { manifest: await sha256(changed), tail: TAIL_DIGEST, tail_length: 2 });
  const parts = new Map(values).set("polybake.manifest", changed);
  parts.set("polybake.digests", asciiJson({ ...right, ...other(right) }));
  return new File([...[...parts].flatMap(entryOf), TAIL], "small.onnx");
}

/** @param {unknown} value */
function asciiJson(value) {
  const escaped = (/** @type {string} */ character) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return new TextEncoder().encode(JSON.stringify(value).replace(/[\u0080-\uffff]/g, escaped));
}

/** An entry of ModelProto.metadata_props. @param {[key: string, value: Uint8Array]} entry @returns {any[]} */
function entryOf([key, value]) {
  const name = new TextEncoder().encode(key);
  const start = Uint8Array.from([0x0a, name.length, ...name, 0x12, ...varint(value.length)]);
  return [Uint8Array.from([0x72, ...varint(start.length + value.length)]), start, value];
}

/** @param {number} number */
function varint(number) {
  const bytes = [];
  let rest = number;
  for (; rest > 0x7f; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}
