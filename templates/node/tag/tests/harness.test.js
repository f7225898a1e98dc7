/** The client behind the harness protocol. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { encoded } from "../harness/encoded.js";
import { inCharacters } from "../harness/in-characters.js";
import { Tagger } from "../src/index.js";
import { askHarness } from "./ask-harness.js";
import { modelPath } from "./model.js";

test("each request has its answer, and errors keep their kind", async () => {
  const texts = ["a \u{1f600} b.", "", "\u{1d4b3} e\u0301 c"];
  const requests = [
    { cmd: "call", texts: ["a"], aggregations: [] },
    { cmd: "start", protocol: 1, model: modelPath, device: "cpu" },
    { cmd: "call", texts: ["a", "\ud800"], aggregations: ["first"] },
    { cmd: "toString" },
    { cmd: "tokenize", texts: ["a"], prompt: null },
    { cmd: "embed_ids", input_ids: [[1], []], prompt: null },
    { cmd: "embed", texts: ["a", "b"], prompt: null },
    { cmd: "call", texts, aggregations: ["max", "first"] },
    { cmd: "stop" },
  ];
  const [early, start, text, unknown, ids, byIds, byTexts, spans] = askHarness(requests);
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
  const tagger = await Tagger.open(modelPath);
  assert.deepEqual(ids.results, await tagger.tokenize(["a"]));
  assert.deepEqual(byIds.results, encoded((await tagger.scoreIds([[1], []])).flat()));
  assert.deepEqual(byTexts.results, encoded((await tagger.scores(["a", "b"])).flat()));
  const expected = async (/** @type {import("../index.d.ts").Aggregation} */ aggregation) => {
    const found = await tagger.tag(texts, { aggregation });
    return found.map((spans, place) => inCharacters(spans, texts[place]));
  };
  assert.deepEqual(spans.results, [await expected("max"), await expected("first")]);
  await tagger.close();
});

test("its places count characters", () => {
  const text = "\u{1f600} e\u0301 \u{1d4b3}";
  const found = [
    { text: "e\u0301", start: 3, end: 5 },
    { text: "\u{1d4b3}", start: 6, end: 8 },
  ];
  assert.deepEqual(inCharacters(found, text), [
    { text: "e\u0301", start: 2, end: 4 },
    { text: "\u{1d4b3}", start: 5, end: 6 },
  ]);
});
