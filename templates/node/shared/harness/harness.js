/** Put the client behind the harness protocol. */

import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

// Node cannot move a descriptor, so the client runs in a child whose standard output is our
// standard error, and whose descriptor 3 is our standard output: a native print breaks nothing.
const server = fileURLToPath(new URL("server.js", import.meta.url));
spawn(process.execPath, [server], { stdio: [0, 2, 2, 1] }).on("exit", (code) => {
  process.exitCode = code ?? 1;
});
