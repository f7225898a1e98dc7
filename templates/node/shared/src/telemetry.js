/** Keep what ONNX Runtime knows on this machine. */

import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";

// ONNX Runtime 1.29 and later send telemetry on Linux and macOS, a model's metadata with it, unless
// this is 1 when the process makes its first session. See microsoft/onnxruntime#27379.
const VARIABLE = "ORT_DISABLE_TELEMETRY";
// In Bun, native code sees no variable that is set here.
const late = !process.env[VARIABLE] && ("bun" in process.versions || isRuntimeLoaded());
process.env[VARIABLE] ||= "1";

let warned = false;

/** Say so, once, where ONNX Runtime may have missed the variable. */
export function warnOfTelemetry() {
  const wanted = process.env[VARIABLE] === "0";
  if (warned || wanted || (!late && (isMainThread || isInherited()))) return;
  warned = true;
  process.emitWarning(
    `ONNX Runtime may send telemetry from this process: ${VARIABLE}=1 came too late, or was set in ` +
      "a worker. Set it where Node is started, or before the main thread starts workers and loads " +
      "onnxruntime-node; 0 allows the telemetry.",
  );
}

/** Whether someone loaded onnxruntime-node, and so may have made a session. */
function isRuntimeLoaded() {
  const { cache } = createRequire(process.execPath);
  return Object.keys(cache).some((path) => /onnxruntime-node[\\/]dist[\\/]binding\.js$/.test(path));
}

/** Whether native code sees the variable; a worker's `process.env` is mostly a copy of its own. */
function isInherited() {
  /** @type {any} */
  const report = process.report;
  const { excludeNetwork } = report;
  // A report looks up the names of open connections otherwise.
  report.excludeNetwork = true;
  try {
    return Boolean(report.getReport().environmentVariables?.[VARIABLE]);
  } finally {
    report.excludeNetwork = excludeNetwork;
  }
}
