/** What tests need of node:assert/strict, in a page. */

/** @param {unknown} value */
function shown(value) {
  const plain = (/** @type {string} */ _, /** @type {unknown} */ part) =>
    typeof part === "bigint" ? `${part}n` : part;
  return JSON.stringify(value, plain) ?? String(value);
}

/** @param {any} one @param {any} other @returns {boolean} */
function same(one, other) {
  if (Object.is(one, other)) return true;
  if (![one, other].every((value) => typeof value === "object" && value !== null)) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  if (one instanceof Map || one instanceof Set) return same([...one], [...other]);
  if (one instanceof Error && one.message !== other.message) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => same(one[key], other[key]));
}

/** @param {unknown} value @param {string} [message] */
function ok(value, message = `${shown(value)} is not true`) {
  if (!value) throw new Error(message);
}

/** @param {any} error @param {any} expected a class, a test, or values and patterns of fields */
function check(error, expected) {
  if (expected.prototype) return ok(error instanceof expected, `got ${error}`);
  if (typeof expected === "function") return ok(expected(error), `got ${error}`);
  for (const [key, value] of Object.entries(expected)) {
    if (value instanceof RegExp) match(error[key], value);
    else deepEqual(error[key], value);
  }
}

/** @param {unknown} found @param {unknown} expected */
function equal(found, expected) {
  ok(Object.is(found, expected), `${shown(found)} is not ${shown(expected)}`);
}

/** @param {unknown} found @param {unknown} expected */
function deepEqual(found, expected) {
  ok(same(found, expected), `${shown(found)} is not ${shown(expected)}`);
}

/** @param {string} found @param {RegExp} pattern */
function match(found, pattern) {
  ok(pattern.test(found), `${found} does not match ${pattern}`);
}

/** @param {Promise<unknown> | (() => Promise<unknown>)} call @param {any} expected */
async function rejects(call, expected) {
  const [error] = await (typeof call === "function" ? call() : call).then(
    () => [],
    (error) => [error],
  );
  ok(error !== undefined, "nothing was thrown");
  check(error, expected);
}

/** @param {() => unknown} call @param {any} expected */
function throws(call, expected) {
  try {
    call();
  } catch (error) {
    return check(error, expected);
  }
  throw new Error("nothing was thrown");
}

export default { ok, equal, deepEqual, match, rejects, throws };
