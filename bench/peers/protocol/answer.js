// How a runner in Node answers the driver; protocol/answer.py says how.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** `embed` gives Float32Arrays, of one vector or of several each. */
export async function answer(embed, packages) {
  const installed = (name) =>
    JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
  say({ versions: Object.fromEntries(packages.map((name) => [name, installed(name)])) });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    const seconds = [];
    let vectors;
    for (let call = 0; call < request.calls; call++) {
      const begin = performance.now();
      vectors = await embed(request.texts);
      seconds.push((performance.now() - begin) / 1000);
    }
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
