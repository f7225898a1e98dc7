/** Runs the tests of a file, in the page. */

import { results } from "./node/test.js";

/** @param {string} file of this folder */
export async function answer(file) {
  try {
    await import(`./${file}`);
    return JSON.stringify(await results());
  } catch (error) {
    return JSON.stringify([{ name: file, error: String(error) }]);
  }
}
