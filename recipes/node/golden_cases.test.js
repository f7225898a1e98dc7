// The golden cases against your own service, in `npm test`: `embed` gives a promise of vectors, one a text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { embed } from "../src/service.js";

/** What `polybake inspect MODEL --extract FOLDER` writes, or `polybake build`. */
const FOLDER = new URL("../fixtures/all-minilm-l6-v2/", import.meta.url);

const { tolerances, cases } = JSON.parse(readFileSync(new URL("cases.json", FOLDER), "utf8"));
const { max_abs, one_minus_cosine } = tolerances.cpu;

for (const { id, texts, prompt = null, embeddings } of cases) {
  test(`golden case ${id}`, async () => {
    const { shape, data, offset } = embeddings;
    const [rows, dimension] = shape;
    const sidecar = () => readFileSync(new URL("vectors.f32", FOLDER)).subarray(offset);
    const bytes = data ? Buffer.from(data, "base64") : sidecar();
    const golden = (/** @type {number} */ row, /** @type {number} */ element) =>
      bytes.readFloatLE(4 * (row * dimension + element));
    const vectors = await embed(texts, prompt);
    assert.equal(vectors.length, rows, "vectors");
    for (const [row, vector] of vectors.entries()) {
      assert.equal(vector.length, dimension, `elements of row ${row}`);
      const expected = Array.from(vector, (_, element) => golden(row, element));
      const [length, norm] = [Math.hypot(...vector), Math.hypot(...expected)];
      const limit = max_abs * Math.max(1, norm); // float32 rounds relative to size
      for (const [element, one] of expected.entries()) {
        const difference = Math.abs(vector[element] - one);
        const place = `row ${row}, element ${element}: difference ${difference} exceeds ${limit}`;
        // Written so that NaN fails.
        assert.ok(difference <= limit, `${place}; the vector is ${length} long, expected ${norm}`);
      }
      const product = expected.reduce((sum, one, element) => sum + one * vector[element], 0);
      const angle = norm > max_abs ? 1 - product / (norm * length) : 0;
      assert.ok(angle <= one_minus_cosine, `row ${row}: 1 - cosine ${angle}`);
    }
  });
}
