/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encoded } from "../harness/encoded.js";
import { PairClassifier } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

test("each request has its answer, and errors keep their kind", async () => {
  /** @type {[string, string][]} */
  const pairs = [
    ["a", "b"],
    ["c", ""],
  ];
  const requests = [
    { cmd: "call", texts: pairs },
    { cmd: "start", protocol: 1, model: modelPath, device: "cpu" },
    { cmd: "call", texts: [["a", "\ud800"]] },
    { cmd: "toString" },
    { cmd: "embed", texts: pairs, prompt: null },
    { cmd: "call", texts: pairs },
    { cmd: "stop" },
  ];
  const [early, start, text, unknown, byTexts, called] = askHarness(requests);
  assert.equal(early.kind, "internal");
  const known = ["tokenize", "embed_ids", "embed", "call", "self_check"];
  assert.deepEqual(start.results.capabilities, known);
  assert.deepEqual([text.kind, text.index], ["invalid_text", 0]);
  assert.equal(unknown.skipped, true);
  const classifier = await PairClassifier.open(modelPath);
  assert.deepEqual(byTexts.results, encoded(await classifier.scorePairs(pairs)));
  assert.deepEqual(called.results, await classifier.classify(pairs));
  await classifier.close();
});
