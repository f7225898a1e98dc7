/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { SparseEmbedder } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

/** @import { SparseVector, TokenWeight } from "../index.d.ts" */

test("each request has its answer, with all elements, and prompts reach the client", async () => {
  const prompts = [null, ...Object.keys(CONTRACT.prompts)];
  const requests = [
    { cmd: "start", protocol: 1, model: modelPath, device: "cpu" },
    ...prompts.flatMap((prompt) => [
      { cmd: "tokenize", texts: ["a"], prompt },
      { cmd: "embed_ids", input_ids: [[1], []], prompt },
      { cmd: "embed", texts: ["a", "b"], prompt },
      { cmd: "call", texts: ["a", "b"], prompt, top: 2 },
    ]),
    { cmd: "stop" },
  ];
  const [start, ...rest] = askHarness(requests).map(({ results }) => results);
  const known = ["tokenize", "embed_ids", "embed", "call", "stream", "self_check"];
  assert.deepEqual(start.capabilities, known);
  const embedder = await SparseEmbedder.open(modelPath);
  for (const prompt of prompts) {
    const [ids, byIds, byTexts, answer] = rest.splice(0, 4);
    assert.deepEqual(ids, await embedder.tokenize(["a"], { prompt }));
    assert.deepEqual(byIds, encoded(await embedder.embedIds([[1], []], { prompt })));
    const vectors = await embedder.embed(["a", "b"], { prompt });
    assert.deepEqual(byTexts, encoded(vectors));
    const tokens = await Promise.all(vectors.map((vector) => embedder.tokens(vector, { top: 2 })));
    const scored = (/** @type {TokenWeight} */ { token, weight }) => ({ token, score: weight });
    assert.deepEqual(
      answer,
      tokens.map((some) => some.map(scored)),
    );
  }
  await embedder.close();
});

/** @param {SparseVector[]} vectors */
function encoded(vectors) {
  const { dtype, dimension } = CONTRACT.output;
  const elements = vectors.map(({ indices, values }) => {
    const weights = new Map([...indices.entries()].map(([place, index]) => [index, values[place]]));
    return Array.from({ length: dimension }, (_, index) => weights.get(index) ?? 0);
  });
  const data = Buffer.from(Float32Array.from(elements.flat()).buffer).toString("base64");
  return { dtype, shape: [vectors.length, dimension], data };
}
