/** The harness in a process of its own. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const harness = fileURLToPath(new URL("../harness/harness.js", import.meta.url));

/**
 * Start a harness, send it all requests, and wait for its end.
 *
 * @param {object[]} requests without their seq
 * @returns {any[]} the answer to each, in their order
 */
export function askHarness(requests) {
  const input = requests.map((request, seq) => `${JSON.stringify({ seq, ...request })}\n`).join("");
  const { status, stdout } = spawnSync(process.execPath, [harness], { input });
  assert.equal(status, 0);
  const lines = String(stdout).trimEnd().split("\n");
  const answers = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    answers.map(({ seq }) => seq),
    [...requests.keys()],
  );
  return answers;
}
