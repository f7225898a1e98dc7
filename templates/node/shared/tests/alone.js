/** Scripts that run in a process of their own. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { folder, modelPath } from "./model.js";

/**
 * Run a script in a Node of its own, whose home is empty.
 *
 * @param {string} script finds the package in SOURCE and the model in MODEL
 * @param {number} [expected] what the process exits with
 * @returns {{ home: string[], errors: string }} what it left in its home, and wrote to standard error
 */
export function runAlone(script, expected = 0) {
  const { PATH } = process.env;
  const home = mkdtempSync(join(folder, "home-"));
  const source = new URL("../src/index.js", import.meta.url).href;
  const env = { PATH, HOME: home, SOURCE: source, MODEL: modelPath };
  const options = { env, timeout: 30_000 };
  const { status, signal, stderr } = spawnSync(process.execPath, ["--eval", script], options);
  assert.deepEqual([status, signal], [expected, null], String(stderr));
  return { home: readdirSync(home), errors: String(stderr) };
}
