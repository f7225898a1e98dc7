/** What is refused when a file is opened. */

import assert from "node:assert/strict";
import { copyFileSync, rmSync, truncateSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Embedder } from "../src/embedder.js";
import { checkGraph, readHead } from "../src/modelfile.js";
import { folder, manifest, modelPath, writeFile } from "./model.js";

/**
 * @param {string} path
 * @param {string} message
 */
function assertRefused(path, message) {
  const expected = { name: "ModelError", message: `${resolve(path)}: ${message}` };
  return assert.rejects(Embedder.open(path), expected);
}

test("a path may be a URL", async () => {
  const embedder = await Embedder.open(pathToFileURL(modelPath));
  assert.equal(embedder.name, manifest.name);
  await embedder.close();
});

test("a path stays that of the file after a change of directory", async () => {
  const [path, before] = [relative(process.cwd(), modelPath), process.cwd()];
  try {
    const opening = Embedder.open(path);
    process.chdir("/");
    const embedder = await opening;
    await embedder.selfCheck();
    await embedder.close();
  } finally {
    process.chdir(before);
  }
});

test("a path without a file is refused", async () => {
  const reason = "no such file or directory";
  const message = `cannot be read (${reason}); give the path of a baked .onnx file`;
  await assertRefused("nowhere.onnx", message);
});

test("a file that ends within its head is refused", async () => {
  const path = writeFile();
  truncateSync(path, 100);
  await assertRefused(path, "is not a whole ONNX file (byte 0); copy the file again");
});

test("a file of another size is refused", async () => {
  const path = writeFile({ digests: () => ({ tail_length: 3 }) });
  await assertRefused(path, "has 2 bytes after its head, expected 3; copy the file again");
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

test("another graph is refused by its digest, and a digest by its case", async () => {
  const message = "the graph does not match its digest; copy the file again";
  const upper = (/** @type {any} */ { tail }) => ({ tail: tail.toUpperCase() });
  for (const digests of [() => ({ tail: "0".repeat(64) }), upper]) {
    const path = writeFile({ digests });
    await assert.rejects(checkGraph(path, readHead(path)), { name: "ModelError", message });
  }
});

test("a file whose place another one has taken is refused by selfCheck", async () => {
  const path = join(folder, "replaced.onnx");
  copyFileSync(modelPath, path);
  const embedder = await Embedder.open(path);
  rmSync(path);
  copyFileSync(writeFile({ fingerprint: "another" }), path);
  const message = `${path}: was replaced since it was opened; open it again`;
  await assert.rejects(embedder.selfCheck(), { name: "ModelError", message });
  await embedder.close();
});

test("a graph that is none is refused by onnxruntime", async () => {
  const message = /small\.onnx: onnxruntime cannot load the graph: ./;
  await assert.rejects(Embedder.open(writeFile()), { name: "ModelError", message });
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
