/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encoded } from "../harness/encoded.js";
import { Reranker } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

test("each request has its answer, and errors keep their kind", async () => {
  /** @type {[string, string][]} */
  const pairs = [
    ["a", "b"],
    ["c", ""],
  ];
  const requests = [
    { cmd: "call", query: "a", documents: ["a", "b"] },
    { cmd: "start", protocol: 1, model: modelPath, device: "cpu" },
    { cmd: "call", query: "a", documents: ["a", "\ud800"] },
    { cmd: "toString" },
    { cmd: "tokenize", texts: pairs, prompt: null },
    { cmd: "embed_ids", input_ids: [[1, 2], []], type_ids: [[0, 0], []], prompt: null },
    { cmd: "embed", texts: pairs, prompt: null },
    { cmd: "call", query: "a", documents: ["a", "b"] },
    { cmd: "stop" },
  ];
  const [early, start, text, unknown, ids, byIds, byTexts, called] = askHarness(requests);
  assert.equal(early.kind, "internal");
  assert.deepEqual(start.results.capabilities, [
    "tokenize",
    "embed_ids",
    "embed",
    "call",
    "stream",
    "self_check",
  ]);
  assert.deepEqual([text.kind, text.index], ["invalid_text", 1]);
  assert.equal(unknown.skipped, true);
  const reranker = await Reranker.open(modelPath);
  const tokens = await reranker.tokenize(pairs);
  assert.deepEqual(ids.results, {
    input_ids: tokens.map((row) => row.ids),
    type_ids: tokens.map((row) => row.typeIds),
  });
  const rows = [
    { ids: [1, 2], typeIds: [0, 0] },
    { ids: [], typeIds: [] },
  ];
  assert.deepEqual(byIds.results, encoded(await reranker.scoreIds(rows)));
  const scores = await reranker.scorePairs(pairs);
  assert.deepEqual(byTexts.results, encoded(scores));
  assert.deepEqual(called.results, await reranker.rerank("a", ["a", "b"]));
  await reranker.close();
});
