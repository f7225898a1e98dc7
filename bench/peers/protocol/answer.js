// How a runner in Node answers the driver; protocol/answer.py says how.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { timed } from "./calls.js";

/** `embed` gives Float32Arrays, of one vector or of several each. */
export async function answer(embed, packages) {
  const installed = (name) =>
    JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
  say({ versions: Object.fromEntries(packages.map((name) => [name, installed(name)])) });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    const { seconds, vectors } = await timed(embed, request);
    if (request.vectors) {
      const bytes = vectors.map((v) => new Uint8Array(v.buffer, v.byteOffset, v.byteLength));
      writeFileSync(request.vectors, Buffer.concat(bytes));
    }
    say({ seconds });
  }
}

function say(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
