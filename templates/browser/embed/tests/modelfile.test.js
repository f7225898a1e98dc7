/** What is refused when a file is opened. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Embedder } from "../src/embedder.js";
import { manifest, modelUrl, writeFile } from "./model.js";

const whole = await (await fetch(modelUrl)).arrayBuffer();

/** @param {Blob | Promise<Blob>} file @param {string} message */
async function assertRefused(file, message, name = "small.onnx") {
  const expected = { name: "ModelError", message: `${name}: ${message}` };
  await assert.rejects(Embedder.open(await file), expected);
}

test("a file that ends within its head is refused", async () => {
  const file = new File([(await writeFile()).slice(0, 100)], "small.onnx");
  await assertRefused(file, "is not a whole ONNX file (byte 0); copy the file again");
});

test("what is no model file is refused by its first bytes", async () => {
  const message = "has no polybake.manifest; write the file with: polybake bake";
  await assertRefused(new Blob(["<!doctype html>"]), message, "the Blob");
  await assertRefused(new Blob([]), message, "the Blob");
});

test("a file of another size is refused", async () => {
  const message = "has 2 bytes after its head, expected 3; copy the file again";
  await assertRefused(writeFile({ digests: () => ({ tail_length: 3 }) }), message);
  const less = "has 2 bytes after its head, expected 1; copy the file again";
  await assertRefused(writeFile({ digests: () => ({ tail_length: 1 }) }), less);
});

for (const part of ["manifest", "tokenizer", "fixture"]) {
  test(`another ${part} is refused by its digest, and a digest by its case`, async () => {
    const message = `polybake.${part} does not match its digest; copy the file again`;
    const other = "0".repeat(64);
    await assertRefused(writeFile({ digests: () => ({ [part]: other }) }), message);
    const upper = (/** @type {any} */ digests) => ({ [part]: digests[part].toUpperCase() });
    await assertRefused(writeFile({ digests: upper }), message);
  });
}

test("another graph is refused by its digest, a bit of the whole file, too", async () => {
  const message = "the graph does not match its digest; copy the file again";
  await assertRefused(writeFile({ digests: () => ({ tail: "0".repeat(64) }) }), message);
  const damaged = new Uint8Array(whole.slice(0));
  damaged[damaged.length - 1] ^= 1;
  await assertRefused(new Blob([damaged]), message, "the Blob");
});

test("a contract with a field more, a field less or another value is refused", async () => {
  const { contract } = manifest;
  const { pad_id, ...less } = contract;
  for (const [changed, difference] of [
    [{ ...contract, later: "\u00e9" }, 'later: expected nothing, found "\u00e9"'],
    [less, `pad_id: expected ${pad_id}, found nothing`],
    [
      { ...contract, max_length: 7, vocab_size: 7 },
      `vocab_size: expected ${contract.vocab_size}, found 7`,
    ],
  ]) {
    const message = `contract field ${difference}; regenerate the client with: polybake generate`;
    await assertRefused(writeFile({ contract: changed }), message);
  }
});

test("a graph that is none is refused by onnxruntime", async () => {
  const message = /^small\.onnx: onnxruntime cannot load the graph: ./;
  await assert.rejects(Embedder.open(await writeFile()), { name: "ModelError", message });
});
