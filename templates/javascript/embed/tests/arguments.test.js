/** What callers may not pass. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CONTRACT } from "../src/contract.js";
import { Embedder } from "../src/embedder.js";
import { modelPath } from "./model.js";

/** Has no model: what reaches one is another error. @type {any} */
const embedder = new Embedder(/** @type {any} */ ({ facts: {} }));

/**
 * @param {Promise<unknown>} call
 * @param {string} name
 * @param {string} message
 * @param {object} [fields]
 */
function rejects(call, name, message, fields) {
  return assert.rejects(call, { name, message, ...fields });
}

test("an embedder is opened, not made", () => {
  for (const path of [modelPath, undefined]) {
    const message = "Embedder is opened, not made; call: await Embedder.open(path)";
    const make = () => new Embedder(/** @type {any} */ (path));
    assert.throws(make, { name: "TypeError", message });
  }
});

test("options are an object of known keys", async () => {
  for (const [options, type] of [
    ["query", "string"],
    [null, "null"],
    [["query"], "Array"],
    [new Map([["prompt", "query"]]), "Map"],
  ]) {
    const message = `expected options such as { prompt: "query" }, got ${type}`;
    for (const method of ["embed", "tokenize", "embedIds"]) {
      await rejects(embedder[method]([], options), "TypeError", message);
    }
  }
  const unknown = 'unknown option "promt"; choose one of: prompt';
  for (const method of ["embed", "tokenize", "embedIds"]) {
    await rejects(embedder[method]([], { promt: "query" }), "TypeError", unknown);
  }
});

test("a prompt is one of the model's", async () => {
  const message = "prompt is number; expected a string";
  await rejects(embedder.embed([], { prompt: 5 }), "TypeError", message);
  const names = Object.keys(CONTRACT.prompts).join(", ");
  const remedy = names === "" ? "this model has none" : `choose one of: ${names}`;
  for (const prompt of ["no such prompt", "", "constructor"]) {
    const unknown = `unknown prompt "${prompt}"; ${remedy}`;
    for (const method of ["embed", "tokenize", "embedIds"]) {
      await rejects(embedder[method]([], { prompt }), "UnknownPromptError", unknown);
    }
  }
});

for (const method of ["embed", "embedQueries", "embedDocuments", "tokenize"]) {
  test(`${method} takes a list of texts`, async () => {
    const string = "got a string; put it into a list";
    await rejects(embedder[method]("a"), "TypeError", `expected a list of texts, ${string}`);
    for (const texts of [new Set(["a"]), new Map([["a", "b"]])]) {
      const message = `expected a list of texts, got ${texts.constructor.name}`;
      await rejects(embedder[method](texts), "TypeError", message);
    }
    for (const [texts, type] of [
      [undefined, "undefined"],
      [5, "number"],
      [{ length: 1, 0: "a" }, "Object"],
      [Promise.resolve(["a"]), "Promise"],
    ]) {
      const message = `expected a list of texts, got ${type}`;
      await rejects(embedder[method](texts), "TypeError", message);
    }
    for (const [text, type] of [
      [null, "null"],
      [5, "number"],
      [["a"], "Array"],
    ]) {
      const message = `texts[1] is ${type}; expected a string`;
      await rejects(embedder[method](["a", text]), "TypeError", message);
    }
    for (const text of ["\ud800", "a\udc00b", "\ude00\ud83d"]) {
      const message = "texts[1] is not valid Unicode; repair or drop it";
      const call = embedder[method](["fine \u{1f600}", text]);
      await rejects(call, "InvalidTextError", message, { index: 1 });
    }
  });
}

test("embedQuery takes one text", async () => {
  await rejects(embedder.embedQuery(null), "TypeError", "text is null; expected a string");
  const message = "text is not valid Unicode; repair or drop it";
  await rejects(embedder.embedQuery("\ud800"), "InvalidTextError", message, { index: 0 });
});

test("rows are lists of token ids", async () => {
  /** @type {[rows: unknown, message: string][]} */
  const wrong = [
    ["101", "expected rows of token ids, got string"],
    [new Set(), "expected rows of token ids, got Set"],
    [[[1], 5], "rows[1] is number; expected a list of token ids"],
    [[[1], "101"], "rows[1] is string; expected a list of token ids"],
    [new Array(1), "rows[0] is undefined; expected a list of token ids"],
  ];
  for (const [rows, message] of wrong) {
    await rejects(embedder.embedIds(rows), "TypeError", message);
  }
});

test("an id is one of the model's", async () => {
  const { vocab_size } = CONTRACT;
  for (const [id, found] of [
    [-1, "-1"],
    [-1n, "-1"],
    [vocab_size, `${vocab_size}`],
    [1.5, "1.5"],
    [Number.NaN, "NaN"],
    ["1", "string"],
    [null, "null"],
    [true, "boolean"],
  ]) {
    const message = `rows[1][1] is ${found}; expected a whole number from 0 to ${vocab_size - 1}`;
    await rejects(embedder.embedIds([[1], [1, id]]), "InvalidIdsError", message, { row: 1 });
  }
});

test("a row has no more ids than the model takes", async () => {
  const { max_length } = CONTRACT;
  const message = `rows[1] has ${max_length + 1} ids; expected at most ${max_length}`;
  // Of a model without a limit, no row is too long.
  const long = { length: max_length + 1 };
  const row = max_length < 2 ** 31 - 1 && Array.from(long, () => 1);
  if (row) await rejects(embedder.embedIds([[1], row]), "InvalidIdsError", message, { row: 1 });
});
