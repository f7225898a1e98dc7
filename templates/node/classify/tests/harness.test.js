/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encoded } from "../harness/encoded.js";
import { Classifier } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

test("each request has its answer, and errors keep their kind", async () => {
  const requests = [
    { cmd: "call", texts: ["a"] },
    { cmd: "start", protocol: 1, model: modelPath, device: "cpu" },
    { cmd: "call", texts: ["a", "\ud800"] },
    { cmd: "toString" },
    { cmd: "tokenize", texts: ["a"], prompt: null },
    { cmd: "embed_ids", input_ids: [[1], []], prompt: null },
    { cmd: "embed", texts: ["a", "b"], prompt: null },
    { cmd: "call", texts: ["a", "b"] },
    { cmd: "stream", texts: ["a", "b"] },
    { cmd: "stop" },
  ];
  const [early, start, text, unknown, ids, byIds, byTexts, labels, streamed] = askHarness(requests);
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
  const classifier = await Classifier.open(modelPath);
  assert.deepEqual(ids.results, await classifier.tokenize(["a"]));
  assert.deepEqual(byIds.results, encoded(await classifier.scoreIds([[1], []])));
  assert.deepEqual(byTexts.results, encoded(await classifier.scores(["a", "b"])));
  assert.deepEqual(labels.results, await classifier.classify(["a", "b"]));
  assert.deepEqual(streamed.results, labels.results);
  await classifier.close();
});
