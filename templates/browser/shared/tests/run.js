/** Run the tests in a headless Chromium: all of them, or the files that are named. */

import { readdirSync, readFileSync } from "node:fs";
import { openPage } from "../harness/chromium.js";

const path = process.env.POLYBAKE_MODEL;
if (!path) throw new Error("set POLYBAKE_MODEL to the path of the baked .onnx file");

const page = await openPage("tests/page.js", {
  // So that threads share memory.
  headers: {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  },
  // Many tests are those of the Node client.
  imports: { "node:test": "/tests/node/test.js", "node:assert/strict": "/tests/node/assert.js" },
});
page.serve("/model.onnx", path);

const model = readFileSync(path);
let ended = 0;
// A download that stands still before its end, and one that breaks off there.
page.routes.set("/stalled.onnx", (response) => {
  response.writeHead(200, { "content-length": model.length }).write(model.subarray(0, -1));
  response.on("close", () => ended++);
});
page.routes.set("/broken.onnx", (response) => {
  response.writeHead(200, { "content-length": model.length });
  response.write(model.subarray(0, -1), () => response.destroy());
});
page.routes.set("/ended", (response) => response.end(String(ended)));

const named = process.argv.slice(2);
const all = readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".test.js"));
const counts = { pass: 0, fail: 0 };
for (const file of named.length > 0 ? named : all) {
  /** @type {{ name: string, error?: string }[]} */
  const results = JSON.parse(await page.ask(file));
  for (const { name, error } of results) {
    counts[error ? "fail" : "pass"]++;
    console.log(error ? `not ok - ${name}\n${error}` : `ok - ${name}`);
  }
  await page.reload();
}
console.log(`# pass ${counts.pass}\n# fail ${counts.fail}`);
await page.close();
process.exit(counts.fail > 0 || counts.pass === 0 ? 1 : 0);
