/** Streams of texts, of a call that stands in a model's place. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { each } from "../src/bulk.js";

const WINDOW = 4;
const texts = Array.from({ length: 10 }, (_, index) => "a".repeat(index));
const sizes = texts.map(({ length }) => length);

/** What a call gives: the length of each text. @param {string[]} window */
async function lengths(window) {
  return window.map(({ length }) => length);
}

/**
 * @template T
 * @param {AsyncIterable<T>} stream
 * @param {T[]} [found]
 */
async function listOf(stream, found = []) {
  for await (const one of stream) found.push(one);
  return found;
}

test("a stream gives what the call gives, in order, of whatever gives texts", async () => {
  for (const count of [0, 1, 4, 9, 10]) {
    const some = texts.slice(0, count);
    for (const given of [some, some.values(), ReadableStream.from(some)]) {
      const stream = each(lengths, /** @type {any} */ (given), { window: WINDOW });
      assert.deepEqual(await listOf(stream), sizes.slice(0, count));
    }
  }
});

test("a call has a window of texts, by default 8,192", async () => {
  /** @type {number[]} */
  const windows = [];
  const call = (/** @type {string[]} */ window) => {
    windows.push(window.length);
    return lengths(window);
  };
  await listOf(each(call, texts, { window: WINDOW }));
  await listOf(each(call, new Array(8193).fill("a")));
  assert.deepEqual(windows, [4, 4, 2, 8192, 1]);
});

test("texts are taken as they are needed, and the source of a stream that is left ends", async () => {
  let taken = 0;
  let ended = false;
  function* endless() {
    try {
      for (;;) yield `${taken++}`;
    } finally {
      ended = true;
    }
  }
  const stream = each(lengths, endless(), { window: WINDOW });
  assert.equal(taken, 0);
  for (let count = 1; count < 9; count++) {
    await stream.next();
    assert.ok(taken <= count + WINDOW);
  }
  await stream.return();
  assert.ok(ended);
});

test("several calls run side by side, and the results keep their order", async () => {
  let running = 0;
  let most = 0;
  const slow = async (/** @type {string[]} */ window) => {
    most = Math.max(most, ++running);
    // The earlier one ends later.
    await setTimeout(window.includes("") ? 60 : 10);
    running--;
    return lengths(window);
  };
  assert.deepEqual(await listOf(each([slow, slow], texts, { window: WINDOW })), sizes);
  assert.equal(most, 2);
});

for (const [bad, fault] of /** @type {[any, object][]} */ ([
  ["\ud800", { name: "InvalidTextError", index: 5 }],
  [5, { name: "TypeError", message: "texts[5] is number; expected a string" }],
  [Promise.resolve("a"), { message: "texts[5] is Promise; expected a string" }],
])) {
  test(`a text that is ${typeof bad} ends a stream after the windows before it`, async () => {
    for (const calls of [lengths, [lengths, lengths, lengths]]) {
      const given = [...texts.slice(0, 5), bad, ...texts.slice(6)];
      /** @type {number[]} */
      const found = [];
      await assert.rejects(listOf(each(calls, given, { window: WINDOW }), found), fault);
      assert.deepEqual(found, sizes.slice(0, WINDOW));
    }
  });
}

test("what a source and a call throw comes in its turn", async () => {
  const gone = new Error("the source is gone");
  function* breaking() {
    yield* texts.slice(0, 6);
    throw gone;
  }
  /** @type {number[]} */
  const found = [];
  await assert.rejects(listOf(each(lengths, breaking(), { window: WINDOW }), found), gone);
  assert.deepEqual(found, sizes.slice(0, WINDOW));
  const failing = () => Promise.reject(gone);
  await assert.rejects(listOf(each([failing, failing], texts, { window: WINDOW })), gone);
});

/** Gives so many texts, then stands still. @param {number} count */
function standing(count) {
  const some = texts.slice(0, count).values();
  let ended = false;
  const source = {
    next: () => {
      const { done, value = "" } = some.next();
      return done ? new Promise(() => {}) : Promise.resolve({ done, value });
    },
    return: async () => {
      ended = true;
      return { done: true, value: undefined };
    },
  };
  const stream = { [Symbol.asyncIterator]: () => source };
  return { stream: /** @type {AsyncIterable<string>} */ (stream), hasEnded: () => ended };
}

/** What a call gives, if it does not wait. @param {Promise<unknown>} call */
async function soon(call) {
  const timer = new AbortController();
  try {
    return await Promise.race([call, setTimeout(5000, "it waits", { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

test("a stream that is left does not wait for a source that stands still", async () => {
  for (const calls of [lengths, [lengths, lengths]]) {
    const { stream, hasEnded } = standing(WINDOW);
    const read = async () => {
      for await (const _ of each(calls, stream, { window: WINDOW })) break;
      return "left";
    };
    assert.equal(await soon(read()), "left");
    assert.ok(hasEnded());
  }
});

test("a signal ends a stream whose source stands still", async () => {
  for (const count of [0, 1, WINDOW]) {
    const { stream, hasEnded } = standing(count);
    const controller = new AbortController();
    const { signal } = controller;
    const call = soon(listOf(each(lengths, stream, { window: WINDOW, signal })));
    await setTimeout(50);
    controller.abort();
    await assert.rejects(call, { name: "AbortError" });
    assert.ok(hasEnded());
  }
});

test("a signal ends a stream between two results, and before it begins", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  /** @type {number[]} */
  const found = [];
  const read = async () => {
    for await (const one of each(lengths, texts, { window: WINDOW, signal })) {
      if (found.push(one) === 2) controller.abort(new RangeError("enough"));
    }
  };
  await assert.rejects(read(), { name: "RangeError", message: "enough" });
  assert.deepEqual(found, sizes.slice(0, 2));
  assert.throws(() => each(lengths, texts, { signal }), { message: "enough" });
});

test("arguments are judged at the call", () => {
  for (const [call, given, options, name, message] of /** @type {any[]} */ ([
    [lengths, "a", {}, "TypeError", "expected a list of texts, got a string; put it into a list"],
    [lengths, new Set(["a"]), {}, "TypeError", "expected a list of texts, got Set"],
    [lengths, { next: 5 }, {}, "TypeError", "expected a list of texts, got Object"],
    [5, texts, {}, "TypeError", "the call is number; expected a function of texts"],
    [[], texts, {}, "TypeError", "the call is undefined; expected a function of texts"],
    [lengths, texts, { window: 0 }, "RangeError", "window is 0; expected 1 or more"],
    [lengths, texts, { window: 1.5 }, "TypeError", "window is 1.5; expected a whole number"],
    [lengths, texts, { size: 1 }, "TypeError", /^unknown option "size"; choose one of: window,/],
    [lengths, texts, { signal: 1 }, "TypeError", "signal is number; expected an AbortSignal"],
  ])) {
    assert.throws(() => each(call, given, options), { name, message });
  }
});
