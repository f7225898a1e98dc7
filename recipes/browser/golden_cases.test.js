// The golden cases against your own code in a page, in `vitest run`: `embed` gives a promise of vectors, one a text.

import { assert, test } from "vitest";
import { embed } from "../src/service.js";
// What `polybake inspect MODEL --extract FOLDER` writes, or `polybake build`.
import { cases, tolerances } from "../fixtures/all-minilm-l6-v2/cases.json";

/** The address of the vectors, where a fixture has them in a file of their own. */
const [VECTORS] = Object.values(
  import.meta.glob("../fixtures/all-minilm-l6-v2/vectors.f32", {
    query: "?url",
    import: "default",
    eager: true,
  }),
);
const { max_abs, one_minus_cosine } = tolerances.cpu;

for (const { id, texts, prompt = null, embeddings } of cases) {
  test(`golden case ${id}`, async () => {
    const { shape, data, offset } = embeddings;
    const [rows, dimension] = shape;
    const bytes = data
      ? Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)).buffer
      : (await (await fetch(VECTORS)).arrayBuffer()).slice(offset);
    const numbers = new DataView(bytes);
    const golden = (/** @type {number} */ row, /** @type {number} */ element) =>
      numbers.getFloat32(4 * (row * dimension + element), true);
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
