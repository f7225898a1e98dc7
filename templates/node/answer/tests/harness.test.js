/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encoded } from "../harness/encoded.js";
import { inCharacters } from "../harness/in-characters.js";
import { Answerer } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

test("each request has its answer, and errors keep their kind", async () => {
  /** @type {[string, string][]} */
  const pairs = [
    ["a", "b"],
    ["c", ""],
  ];
  const call = { cmd: "call", question: "a", top: 100, no_answer: true };
  const contexts = ["a b c", "\u{1f600} e\u0301 \u{1d4b3} d"];
  const requests = [
    { ...call, contexts },
    { cmd: "start", protocol: 1, model: modelPath, device: "cpu" },
    { ...call, contexts: ["\ud800"] },
    { cmd: "toString" },
    { cmd: "tokenize", texts: pairs, prompt: null },
    { cmd: "embed_ids", input_ids: [[1, 2], []], type_ids: [[0, 0], []], prompt: null },
    { cmd: "embed", texts: pairs, prompt: null },
    { ...call, contexts },
    { cmd: "stop" },
  ];
  const [early, start, text, unknown, ids, byIds, byTexts, called] = askHarness(requests);
  assert.equal(early.kind, "internal");
  assert.deepEqual(start.results.capabilities, [
    "tokenize",
    "embed_ids",
    "embed",
    "call",
    "self_check",
  ]);
  assert.deepEqual([text.kind, text.index], ["invalid_text", 0]);
  assert.equal(unknown.skipped, true);
  const answerer = await Answerer.open(modelPath);
  const tokens = await answerer.tokenize(pairs);
  assert.deepEqual(ids.results, {
    input_ids: tokens.map((row) => row.ids),
    type_ids: tokens.map((row) => row.typeIds),
  });
  const rows = [
    { ids: [1, 2], typeIds: [0, 0] },
    { ids: [], typeIds: [] },
  ];
  assert.deepEqual(byIds.results, encoded((await answerer.spanIds(rows)).flat()));
  assert.deepEqual(byTexts.results, encoded((await answerer.spans(pairs)).flat()));
  const expected = [];
  for (const context of contexts) {
    const found = await answerer.answer("a", context, { top: 100, noAnswer: true });
    expected.push(inCharacters(found, context));
  }
  assert.deepEqual(called.results, expected);
  assert.ok(called.results[1].some((/** @type {{ text: string }} */ { text }) => text === ""));
  await answerer.close();
});
