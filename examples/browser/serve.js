/** Serves this folder and a model file on localhost: `npm start -- all-minilm-l6-v2.onnx`. */

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const model = process.argv[2];
if (!model) throw new Error("name the model file: npm start -- all-minilm-l6-v2.onnx");
const { size } = statSync(model);

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** The file of an address; none for what is no address. */
function pathOf(address) {
  try {
    const { pathname } = new URL(address, "http://localhost");
    if (pathname === "/model.onnx") return model;
    const file = pathname === "/" ? "/index.html" : pathname;
    return fileURLToPath(new URL(`.${file}`, import.meta.url));
  } catch {
    return "";
  }
}

const server = createServer((request, response) => {
  const path = pathOf(request.url);
  const stream = createReadStream(path);
  stream.once("error", () => response.writeHead(404).end());
  stream.once("open", () => {
    response.writeHead(200, {
      "content-type": TYPES[extname(path)] ?? "application/octet-stream",
      ...(path === model && { "content-length": size }),
      // A page that is isolated from other origins may use several threads.
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-embedder-policy": "require-corp",
    });
    stream.pipe(response);
  });
});
server.listen(Number(process.env.PORT ?? 8000), "localhost", () => {
  console.log(`http://localhost:${server.address().port}`);
});
