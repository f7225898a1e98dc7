/** Does in the page what a test asks. */

import { Client } from "../harness/answers.js";
import { Tokenizer } from "../src/tokenizer.js";

/** @param {string} message a function of these, and its further arguments */
export async function answer(message) {
  const { code, args } = JSON.parse(message);
  try {
    const work = new Function(`return ${code}`)();
    return JSON.stringify({ result: await work({ Client, Tokenizer }, ...args) });
  } catch (/** @type {any} */ { name, message, index }) {
    return JSON.stringify({ error: { name, message, index } });
  }
}
