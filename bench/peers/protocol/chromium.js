// How a runner in a page is asked: run.js of its folder, with importmap.json, in a headless Chromium.
// Usage: chromium.js THREADS MODEL [MORE...]; the page is told an address in place of the model's path.
import { spawn } from "node:child_process";
import {
  createReadStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import { createInterface } from "node:readline";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const [threads, model, ...more] = process.argv.slice(2);
const FOLDERS = { model: dirname(model), protocol: dirname(fileURLToPath(import.meta.url)) };
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };
// Threads share memory in pages that are isolated from other origins.
const HEADERS = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};
// As harness/chromium.js of the browser's client; the watchdog would end what was stopped for long.
const FLAGS = [
  "--headless",
  "--disable-gpu",
  "--disable-gpu-watchdog",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  "--remote-debugging-pipe",
];
const PAGE = `<!doctype html>
<meta charset="utf-8">
<script>
  const failed = (body) => fetch("/failed", { method: "POST", body });
  addEventListener("error", ({ message, target }) => failed(message ?? target.outerHTML), true);
  addEventListener("unhandledrejection", ({ reason }) => failed(reason?.stack ?? reason));
</script>
<script type="importmap">${readFileSync("importmap.json")}</script>
<script type="module" src="/run.js"></script>`;

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let asked = {};

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  if (request.method === "POST") {
    const body = await buffer(request);
    if (pathname === "/failed") end(`the page failed: ${body}`);
    else await handOn(body, response);
  } else if (pathname === "/") {
    response.writeHead(200, { "content-type": "text/html", ...HEADERS }).end(PAGE);
  } else {
    send(pathname, response);
  }
});

/** A line of the page, behind which vectors may lie, goes to the driver, and its next one to the page. */
async function handOn(body, response) {
  const line = body.subarray(0, body.indexOf("\n") + 1);
  if (asked.vectors) writeFileSync(asked.vectors, body.subarray(line.length));
  process.stdout.write(line);
  const { value, done } = await lines.next();
  if (done) return end();
  asked = JSON.parse(value);
  response.end(value);
}

function send(pathname, response) {
  const [, first, ...rest] = pathname.split("/");
  const path = FOLDERS[first] ? join(FOLDERS[first], ...rest) : join(".", pathname);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return response.writeHead(404).end();
  const type = TYPES[extname(path)] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": found.size, ...HEADERS });
  createReadStream(path).pipe(response);
}

await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const told = [threads, `/model/${basename(model)}`, ...more].map((word) => ["told", word]);
const address = `http://127.0.0.1:${server.address().port}/?${new URLSearchParams(told)}`;
const home = mkdtempSync(join(tmpdir(), "chromium-"));
const browser = spawn(
  process.env.CHROME_PATH ?? "chromium",
  [...FLAGS, `--user-data-dir=${home}`, address],
  { stdio: ["ignore", "ignore", "inherit", "pipe", "pipe"] },
);
browser.once("exit", (code) => {
  rmSync(home, { recursive: true, maxRetries: 5 });
  process.exit(code ?? 1);
});

/** Chromium ends with the pipe, and this with Chromium. */
function end(reason) {
  if (reason) console.error(reason);
  for (const pipe of browser.stdio.slice(3)) pipe.destroy();
  setTimeout(() => browser.kill("SIGKILL"), 5000);
}
