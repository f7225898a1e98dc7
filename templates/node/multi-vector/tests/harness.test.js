/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { MultiVectorEmbedder } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

/** @import { MultiVector } from "../index.d.ts" */

test("each request has its answer, with the rows of all texts, and prompts reach the client", async () => {
  const prompts = [null, ...Object.keys(CONTRACT.prompts)];
  const requests = [
    { cmd: "start", protocol: 1, model: modelPath, device: "cpu" },
    ...prompts.flatMap((prompt) => [
      { cmd: "tokenize", texts: ["a"], prompt },
      { cmd: "embed_ids", input_ids: [[1], []], prompt },
      { cmd: "embed", texts: ["a", "b"], prompt },
      { cmd: "call", texts: ["a", "b"], prompt },
    ]),
    { cmd: "stop" },
  ];
  const [start, ...rest] = askHarness(requests).map(({ results }) => results);
  const known = ["tokenize", "embed_ids", "embed", "call", "stream", "self_check"];
  assert.deepEqual(start.capabilities, known);
  const embedder = await MultiVectorEmbedder.open(modelPath);
  for (const prompt of prompts) {
    const [ids, byIds, byTexts, answer] = rest.splice(0, 4);
    assert.deepEqual(ids, await embedder.tokenize(["a"], { prompt }));
    assert.deepEqual(byIds, encoded(await embedder.embedIds([[1], []], { prompt })));
    const vectors = await embedder.embed(["a", "b"], { prompt });
    assert.deepEqual(byTexts, encoded(vectors));
    const answerOf = (/** @type {MultiVector} */ rows) => ({
      rows: rows.length,
      max_sim: MultiVectorEmbedder.maxSim(vectors[0], rows),
    });
    assert.deepEqual(answer, vectors.map(answerOf));
  }
  await embedder.close();
});

/** @param {MultiVector[]} texts */
function encoded(texts) {
  const { dtype, dimension } = CONTRACT.output;
  const rows = texts.flat();
  const elements = Float32Array.from(rows.flatMap((row) => [...row]));
  const data = Buffer.from(elements.buffer).toString("base64");
  return { dtype, shape: [rows.length, dimension], data };
}
