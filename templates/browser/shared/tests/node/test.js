/** What tests need of node:test, in a page. */

/** @typedef {() => unknown} Work */

/** The most that a test may take. */
const SECONDS = 60;

/** @type {{ name: string, work: Work }[]} */
const tests = [];
/** @type {Work[]} */
const last = [];

/** @param {string} name @param {(object | Work)[]} rest options that say nothing here, and the test */
export function test(name, ...rest) {
  tests.push({ name, work: /** @type {Work} */ (rest.at(-1)) });
}

/** @param {Work} work */
export function after(work) {
  last.push(work);
}

/** Rejects when a test should have ended. */
function late() {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`still runs after ${SECONDS} seconds`)), 1000 * SECONDS);
  });
}

/** Run what was declared, one after another. */
export async function results() {
  const found = [];
  for (const { name, work } of tests) {
    try {
      await Promise.race([work(), late()]);
      found.push({ name });
    } catch (/** @type {any} */ error) {
      found.push({ name, error: error?.stack ?? String(error) });
    }
  }
  for (const work of last) await work();
  return found;
}
