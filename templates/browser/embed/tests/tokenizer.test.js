/** The tokenizer's instance of WebAssembly. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Tokenizer } from "../src/tokenizer.js";
import { fixture, manifest, values } from "./model.js";

const json = values.get("polybake.tokenizer");
const module = await Tokenizer.compile();

const [{ texts, input_ids, ...first }] = fixture.cases;
const { prompts, default_prompt } = manifest.contract;
const text = `${prompts[first.prompt ?? default_prompt] ?? ""}${texts[0]}`;

test("a text that it cannot take fails, and leaves it as it was", () => {
  const tokenizer = new Tokenizer(module, json);
  assert.deepEqual(tokenizer.encode(text), input_ids[0]);
  const wrong = new Tokenizer(module);
  assert.throws(() => wrong.encode("a"), { message: "tokenizer: none is loaded" });
  assert.throws(() => new Tokenizer(module, new Uint8Array([0x7b])), { name: "Error" });
});

test("another instance takes the place of one that trapped", () => {
  const tokenizer = new Tokenizer(module, json);
  const { encode } = TextEncoder.prototype;
  // More than its memory can hold.
  TextEncoder.prototype.encode = () => /** @type {any} */ ({ length: 2 ** 31 });
  assert.throws(() => tokenizer.encode("a"), { name: "RuntimeError" });
  TextEncoder.prototype.encode = encode;
  assert.deepEqual(tokenizer.encode(text), input_ids[0]);
});
