/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { Embedder } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

test("each request has its answer, prompts reach the client, and errors keep their kind", async () => {
  const start = { cmd: "start", protocol: 1, model: modelPath, device: "cpu" };
  const prompts = [null, ...Object.keys(CONTRACT.prompts)];
  const requests = [
    { cmd: "self_check" },
    { ...start, model: "nowhere.onnx" },
    start,
    start,
    { cmd: "embed", texts: ["a", "\ud800"], prompt: null },
    { cmd: "embed", texts: ["a"], prompt: "no such prompt \u00e9" },
    { cmd: "toString" },
    ...prompts.flatMap((prompt) => [
      { cmd: "tokenize", texts: ["a"], prompt },
      { cmd: "embed_ids", input_ids: [[1], []], prompt },
      { cmd: "embed", texts: ["a", "b"], prompt },
      { cmd: "stream", texts: ["a", "b"], prompt },
    ]),
    { cmd: "stop" },
  ];
  const [early, file, , again, text, prompt, unknown, ...rest] = askHarness(requests);
  assert.deepEqual([early.kind, file.kind], ["internal", "wrong_model"]);
  assert.equal(again.results.provider.active, "CPUExecutionProvider");
  assert.deepEqual([text.kind, text.index], ["invalid_text", 1]);
  assert.equal(prompt.kind, "unknown_prompt");
  assert.equal(unknown.skipped, true);
  const embedder = await Embedder.open(modelPath);
  for (const prompt of prompts) {
    const [ids, byIds, byTexts, streamed] = rest.splice(0, 4).map(({ results }) => results);
    assert.deepEqual(ids, await embedder.tokenize(["a"], { prompt }));
    assert.deepEqual(byIds, encoded(await embedder.embedIds([[1], []], { prompt })));
    assert.deepEqual(byTexts, encoded(await embedder.embed(["a", "b"], { prompt })));
    assert.deepEqual(streamed, byTexts);
  }
  await embedder.close();
});

/** @param {import("../index.d.ts").Vector[]} vectors */
function encoded(vectors) {
  const { dtype, dimension } = CONTRACT.output;
  const bytes = vectors.map(({ buffer }) => Buffer.from(buffer));
  return {
    dtype,
    shape: [vectors.length, dimension],
    data: Buffer.concat(bytes).toString("base64"),
  };
}
