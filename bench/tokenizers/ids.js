// @huggingface/tokenizers. Usage: ids.js TOKENIZER TEXTS
import { readFileSync } from "node:fs";
import { Tokenizer } from "@huggingface/tokenizers";

const [tokenizer, texts] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const made = new Tokenizer(tokenizer, {});
const ids = texts.map((text) => {
  try {
    return made.encode(text, { add_special_tokens: true }).ids;
  } catch {
    return null;
  }
});
console.log(JSON.stringify(ids));
