/** A page of this folder in a headless Chromium, which is asked one thing after another. */

import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, delimiter, extname, join } from "node:path";
import { text } from "node:stream/consumers";

/** @import { ServerResponse } from "node:http" */

/** Where it is installed, a package may lie above this folder. */
const RUNTIME = new URL(import.meta.resolve("onnxruntime-web/wasm"));

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

const ARGUMENTS = [
  "--headless",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Its own sandbox is not for root.
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  // It ends with the process that holds the pipe, however that ends.
  "--remote-debugging-pipe",
];

const TYPES = /** @type {Record<string, string>} */ ({
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
});

/**
 * Open a page that imports `answer` from a module of this folder, and gives it what is asked.
 *
 * @param {string} module
 * @param {{ imports?: Record<string, string> }} [more] of its import map
 */
export async function openPage(module, { imports = {} } = {}) {
  /** What is not of this folder, by its address. @type {Map<string, (response: ServerResponse) => void>} */
  const routes = new Map();
  /** @type {ServerResponse | undefined} */
  let waiting;
  /** Gives what the page answers, and what makes it fail; who waits for neither needs no error. */
  const page = new EventEmitter().on("error", () => {});
  const answered = async () => (await once(page, "answer"))[0];

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(String(request.url), "http://localhost");
    if (pathname === "/failed") {
      page.emit("error", new Error(`the page failed: ${await text(request)}`));
    } else if (request.method === "POST") {
      waiting = response;
      page.emit("answer", await text(request));
    } else if (pathname === "/") {
      response.writeHead(200, { "content-type": "text/html" }).end(pageOf(module, imports));
    } else {
      const [, folder, name] = pathname.split("/");
      const [path, base] =
        folder === "runtime" ? [name, RUNTIME] : [`..${pathname}`, import.meta.url];
      const route = routes.get(pathname) ?? (() => send(response, new URL(path, base)));
      route(response);
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());

  const home = mkdtempSync(join(tmpdir(), "chromium-"));
  const browser = spawn(
    program(),
    [...ARGUMENTS, `--user-data-dir=${home}`, `http://127.0.0.1:${port}/`],
    { stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] },
  );
  let said = "";
  browser.stderr?.on("data", (data) => {
    said = `${said}${data}`.slice(-10_000);
  });
  const ended = once(browser, "exit");
  ended.then(([code]) => page.emit("error", new Error(`Chromium ended with ${code}: ${said}`)));

  async function close() {
    for (const pipe of browser.stdio.slice(3)) pipe?.destroy();
    const late = setTimeout(() => browser.kill("SIGKILL"), 5000);
    await ended;
    clearTimeout(late);
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true, maxRetries: 5 });
  }

  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => close().finally(() => process.exit(1)));
  }
  await answered();
  return {
    close,
    /** @param {string} address @param {string} path */
    serve: (address, path) => routes.set(address, (response) => send(response, path)),
    routes,
    /** @param {string} message */
    ask(message) {
      const answer = answered();
      waiting?.end(message);
      return answer;
    },
  };
}

function program() {
  const folders = String(process.env.PATH).split(delimiter);
  const places = folders.flatMap((folder) => PROGRAMS.map((name) => join(folder, name)));
  places.push("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
  const found = process.env.CHROME_PATH ?? places.find((place) => existsSync(place));
  if (found) return found;
  throw new Error(`no Chromium on PATH (${PROGRAMS.join(", ")}); install one, or set CHROME_PATH`);
}

/** @type {(response: ServerResponse, path: string | URL) => void} */
function send(response, path) {
  const file = createReadStream(path);
  file.once("error", () => response.writeHead(404).end());
  file.once("open", () => {
    const type = TYPES[extname(String(path))] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
    file.pipe(response);
  });
}

/** @param {string} module @param {Record<string, string>} more */
function pageOf(module, more) {
  const imports = { "onnxruntime-web/wasm": `/runtime/${basename(RUNTIME.pathname)}`, ...more };
  return `<!doctype html>
<meta charset="utf-8">
<script>
  const failed = (body) => fetch("/failed", { method: "POST", body });
  addEventListener("error", ({ message, target }) => failed(message ?? target.outerHTML), true);
  addEventListener("unhandledrejection", ({ reason }) => failed(String(reason)));
</script>
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
  import { answer } from "/${module}";
  for (let body = ""; ; ) {
    const response = await fetch("/", { method: "POST", body });
    body = await answer(await response.text());
  }
</script>`;
}
