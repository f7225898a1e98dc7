/** Put the client, which lives in a page, behind the harness protocol. */

import { createInterface } from "node:readline";
import { asciiJson } from "./ascii-json.js";
import { openPage } from "./chromium.js";

/** Addresses, which a page has in the place of paths, and what errors call them. @type {[string, string]} */
let named = ["", ""];
const page = await openPage("harness/page.js");
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.cmd === "start") {
    const address = `/model-${request.seq}.onnx`;
    page.serve(address, request.model);
    named = [`"${address}:`, `${asciiJson(request.model).slice(0, -1)}:`];
    request.model = address;
  }
  const answer = await page.ask(JSON.stringify(request));
  process.stdout.write(`${answer.replace(named[0], () => named[1])}\n`);
  if (request.cmd === "stop") break;
}
await page.close();
process.exit();
