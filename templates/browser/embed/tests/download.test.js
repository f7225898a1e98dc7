/** A model file from its address: progress, errors, ends, and what the browser keeps of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Embedder } from "../src/embedder.js";
import { digests, manifest, modelPath } from "./model.js";

const cache = await caches.open(`polybake ${manifest.name}`);
const key = new URL(`/${digests.tail}`, location.href).href;

async function kept() {
  return (await cache.keys()).map(({ url }) => url);
}

async function clear() {
  for (const request of await cache.keys()) await cache.delete(request);
}

/** How many downloads that stood still were ended. */
async function ended() {
  return Number(await (await fetch("/ended")).text());
}

/** Wait until another one is, five seconds at most. @param {number} before */
async function untilEnded(before) {
  const late = performance.now() + 5000;
  while ((await ended()) === before) assert.ok(performance.now() < late, "the download goes on");
}

/** @param {string} address @param {object} [options] */
async function opened(address, options) {
  const embedder = await Embedder.open(address, options);
  const difference = await embedder.selfCheck();
  await embedder.close();
  assert.ok(difference < 1e-5);
}

test("progress rises to the size of the file", async () => {
  /** @type {{ loaded: number, total: number }[]} */
  const seen = [];
  await opened(modelPath, { progress: (/** @type {any} */ one) => seen.push(one) });
  const size = Number((await (await fetch(modelPath)).blob()).size);
  assert.ok(seen.every(({ total }) => total === size));
  assert.ok(seen.every(({ loaded }, at) => loaded >= (seen[at - 1]?.loaded ?? 0)));
  assert.equal(seen.at(-1)?.loaded, size);
});

test("an address without a file, and a download that breaks off, are ModelErrors", async () => {
  await clear();
  const remedy = "give the address of a baked .onnx file";
  for (const [address, reason] of [
    ["/nowhere.onnx", "404 Not Found"],
    ["/broken.onnx", "network error"],
    ["http://localhost:1/closed.onnx", "Failed to fetch"],
  ]) {
    const message = `${address}: cannot be read (${reason}); ${remedy}`;
    await assert.rejects(opened(address, { cache: true }), { name: "ModelError", message });
  }
  assert.deepEqual(await kept(), []);
});

test("a signal ends a download with its reason", async () => {
  const reason = new Error("enough");
  await assert.rejects(opened(modelPath, { signal: AbortSignal.abort(reason) }), reason);
  const before = await ended();
  const controller = new AbortController();
  const progress = () => controller.abort(reason);
  const { signal } = controller;
  const call = Embedder.open("/stalled.onnx", { signal, progress, cache: true });
  assert.equal(await call.catch((error) => error), reason);
  await untilEnded(before);
  assert.deepEqual(await kept(), []);
});

test("nothing is kept unless it is asked for", async () => {
  await opened(modelPath);
  assert.deepEqual(await kept(), []);
});

test("a graph that is kept is not downloaded again", async () => {
  await opened(modelPath, { cache: true });
  assert.deepEqual(await kept(), [key]);
  const before = await ended();
  const embedder = await Embedder.open("/stalled.onnx", { cache: true });
  await untilEnded(before);
  await embedder.close();
});

test("a graph that is damaged or another one's gives way to the right one", async () => {
  const other = new URL("/other", location.href).href;
  for (const address of [key, other]) {
    await clear();
    await cache.put(address, new Response("no graph"));
    await opened(modelPath, { cache: true });
    assert.deepEqual(await kept(), [key]);
    await opened("/stalled.onnx", { cache: true });
  }
  await clear();
});
