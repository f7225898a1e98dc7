/** What a model of pairs gives. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { feedsOf } from "../src/batches.js";
import { CONTRACT } from "../src/contract.js";
import { LongTextError, packed, unpacked } from "../src/errors.js";
import { Thread } from "../src/model.js";
import { PairModel } from "../src/pair-model.js";
import { checkCases } from "../src/self-check.js";
import { PIECES, rowOf, tokensOf } from "../src/tokens.js";
import { fixture, modelPath } from "./model.js";

/** @import { Pair } from "../index.d.ts" */

/** What stands before a label, where the first text of a pair names labels. */

/** @type {Pair[]} */
const pairs = [
  ["a", "b c"],
  ["", ""],
  ["d", "a"],
];

/** Of wrong arguments, too. @type {any} */
const model = new PairModel(await Thread.open(modelPath, {}));
after(() => model.close());

const types = new Set(PIECES.map(({ type_id }) => type_id));
const lastType = Math.max(...types);

test("its public methods reproduce every golden case", async () => {
  assert.ok(fixture.cases.length > 0);
  const difference = await checkCases(
    {
      tokenize: async (texts) => {
        const tokens = await model.tokenize(texts);
        return tokens.map((/** @type {any} */ { ids, typeIds }) => rowOf(ids, typeIds));
      },
      run: async (rows) => (await model.scoreIds(rows.map(tokensOf))).flat(),
      vectors: async (texts) => (await model.scorePairs(texts)).flat(),
    },
    fixture,
    "cpu",
  );
  assert.equal(await model.selfCheck(), difference);
});

test("other types are found by selfCheck, as other ids are", async () => {
  const [golden] = fixture.cases;
  const ids = async () => golden.input_ids.map((row) => rowOf(row, new Array(row.length).fill(9)));
  /** @type {any} */
  const other = { tokenize: ids };
  await assert.rejects(checkCases(other, fixture, "cpu"), { stage: "tokenize" });
});

test("the types of tokens reach the graph", async () => {
  const tokens = await model.tokenize(pairs);
  const expected = await model.scoreIds(tokens);
  const zeros = tokens.map((/** @type {any} */ { ids }) => ({ ids, typeIds: ids.map(() => 0) }));
  const differ = String(await model.scoreIds(zeros)) !== String(expected);
  assert.equal(
    differ,
    types.size > 1 && CONTRACT.inputs.some(({ feed }) => feed === "token_type_ids"),
  );
});

test("ids and types are fed apart", () => {
  const rows = [rowOf([5, 6, 7], [0, 1, 1]), rowOf([8], [1])];
  const left = CONTRACT.pad_side === "left";
  for (const { name, feed } of CONTRACT.inputs) {
    const padded = (/** @type {number} */ token, /** @type {number} */ padding) =>
      left ? [padding, padding, token] : [token, padding, padding];
    /** @type {Record<string, number[]>} */
    const expected = {
      input_ids: [5, 6, 7, ...padded(8, CONTRACT.pad_id)],
      attention_mask: [1, 1, 1, ...padded(1, 0)],
      token_type_ids: [0, 1, 1, ...padded(1, 0)],
      position_ids: [0, 1, 2, ...padded(0, 0)],
    };
    const found = feedsOf(rows, null).find((one) => one.name === name);
    assert.deepEqual([...(found?.data ?? [])].map(Number), expected[feed]);
  }
});

test("whatever gives pairs one after another will do", async () => {
  const expected = await model.scorePairs(pairs);
  assert.deepEqual(await model.scorePairs(pairs.values()), expected);
  assert.deepEqual(await model.scorePairs(new Map(pairs)), expected);
});

test("typed arrays hold ids and types, too", async () => {
  const [{ ids, typeIds }] = await model.tokenize(pairs);
  const expected = await model.scoreIds([{ ids, typeIds }]);
  const row = {
    ids: BigInt64Array.from(ids, BigInt),
    typeIds: BigInt64Array.from(typeIds, BigInt),
  };
  assert.deepEqual(await model.scoreIds([row]), expected);
  const short = { ids: Uint32Array.from(ids), typeIds: Int32Array.from(typeIds) };
  assert.deepEqual(await model.scoreIds([short]), expected);
});

test("nothing gives nothing", async () => {
  for (const method of ["tokenize", "scorePairs", "scoreIds"]) {
    assert.deepEqual(await model[method]([]), []);
  }
});

test("pairs are two strings of valid Unicode", async () => {
  for (const [given, message] of /** @type {[unknown, string][]} */ ([
    ["ab", "expected a list of pairs of texts, got string"],
    [null, "expected a list of pairs of texts, got null"],
    [5, "expected a list of pairs of texts, got number"],
    [["ab"], "pairs[0] is string; expected two strings"],
    [[["a", "b"], ["a"]], "pairs[1] is Array; expected two strings"],
    [[["a", "b", "c"]], "pairs[0] is Array; expected two strings"],
    [[["a", 5]], "pairs[0] is Array; expected two strings"],
    [[["a", "b"], null], "pairs[1] is null; expected two strings"],
  ])) {
    for (const method of ["tokenize", "scorePairs"]) {
      await assert.rejects(model[method](given), { name: "TypeError", message });
    }
  }
  const message = "pairs[2] is not valid Unicode; repair or drop it";
  for (const bad of [
    ["a", "\ud800"],
    ["\udc00", "a"],
  ]) {
    const call = model.scorePairs([...pairs.slice(0, 2), bad]);
    await assert.rejects(call, { name: "InvalidTextError", message, index: 2 });
  }
});

test("rows are ids and their types", async () => {
  for (const [given, message] of /** @type {[unknown, string][]} */ ([
    ["ab", "expected rows of tokens, got string"],
    [[[1]], "rows[0] is Array; expected Tokens"],
    [[{ ids: [1], typeIds: [0] }, null], "rows[1] is null; expected Tokens"],
    [[{ ids: [1], typeIds: "0" }], "rows[0] is Object; expected Tokens"],
  ])) {
    await assert.rejects(model.scoreIds(given), { name: "TypeError", message });
  }
  const range = `expected a whole number from 0 to ${lastType}`;
  const lastId = CONTRACT.vocab_size - 1;
  for (const [row, message] of /** @type {[object, string][]} */ ([
    [{ ids: [1, 2, 3], typeIds: [0, 0] }, "rows[1] has 3 ids and 2 types; give as many"],
    [{ ids: [1, 2], typeIds: [0, 5] }, `rows[1].typeIds[1] is 5; ${range}`],
    [{ ids: [1], typeIds: [-1] }, `rows[1].typeIds[0] is -1; ${range}`],
    [{ ids: [1], typeIds: [0.5] }, `rows[1].typeIds[0] is 0.5; ${range}`],
    [{ ids: [1], typeIds: [true] }, `rows[1].typeIds[0] is boolean; ${range}`],
    [{ ids: [1], typeIds: [lastType + 1] }, `rows[1].typeIds[0] is ${lastType + 1}; ${range}`],
    [{ ids: [-1], typeIds: [0] }, `rows[1][0] is -1; expected a whole number from 0 to ${lastId}`],
  ])) {
    const call = model.scoreIds([{ ids: [1], typeIds: [0] }, row]);
    await assert.rejects(call, { name: "InvalidIdsError", message, row: 1 });
  }
});

test("more than a window of pairs has the scores of each", async () => {
  // Of a pair there is one row, or several.
  const firstOf = (/** @type {any} */ scores) => [scores].flat()[0][0];
  const [first, , third] = await model.scorePairs(pairs);
  const many = Array.from({ length: 9000 }, (_, index) => pairs[index % 2 === 0 ? 0 : 2]);
  const scores = await model.scorePairs(many);
  assert.equal(scores.length, many.length);
  for (const [place, score] of scores.entries()) {
    const expected = place % 2 === 0 ? first : third;
    assert.ok(Math.abs(firstOf(score) - firstOf(expected)) < 1e-4);
  }
});

test("an error of a long text keeps its class between threads", () => {
  const error = new LongTextError("long");
  const found = unpacked(structuredClone(packed(error)));
  assert.ok(found instanceof LongTextError);
  assert.deepEqual([found.name, found.message], ["LongTextError", "long"]);
});
