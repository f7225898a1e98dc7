/** Count the processors that this process may use. */

import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/**
 * What the machine has, and what affinity mask and cgroup leave of it to this process.
 *
 * @param {string} root where `proc` and `sys` stand
 * @returns {{ present: number, usable: number }}
 */
export function countProcessors(root = "/") {
  const present = lengthOf(read(root, "sys/devices/system/cpu/online")) ?? availableParallelism();
  // On Linux not by Node's own count: newer versions of it round the quota of a cgroup down.
  const mask = /^Cpus_allowed_list:(.*)$/m.exec(read(root, "proc/thread-self/status"))?.[1] ?? "";
  const allowed = lengthOf(mask) ?? present;
  return { present, usable: Math.min(present, allowed, Math.ceil(quota(root))) };
}

/**
 * How many numbers a list such as `0-3,8` has.
 *
 * @param {string} list
 */
function lengthOf(list) {
  if (list.trim() === "") return undefined;
  return list.split(",").reduce((sum, range) => {
    const [first, last = first] = range.split("-").map(Number);
    return sum + last - first + 1;
  }, 0);
}

/**
 * The processors that the cgroups of this process, and those above them, may use; Infinity where
 * nothing limits them.
 *
 * @param {string} root
 */
function quota(root) {
  const quotas = [Infinity];
  for (const line of read(root, "proc/self/cgroup").split("\n")) {
    const [, controllers, path] = /^\d+:(.*?):(\/.*)$/.exec(line) ?? [];
    if (controllers === "") {
      for (const group of andParents(path)) {
        const [limit, period] = read(root, "sys/fs/cgroup", group, "cpu.max").split(" ");
        quotas.push(Number(limit) / Number(period));
      }
    } else if (controllers?.split(",").includes("cpu")) {
      for (const group of andParents(path)) {
        const [limit, period] = ["quota", "period"].map((part) =>
          Number(read(root, "sys/fs/cgroup/cpu", group, `cpu.cfs_${part}_us`)),
        );
        quotas.push(limit / period);
      }
    }
  }
  // A file that is missing, and "max", give NaN; the -1 of cgroup v1 is no limit either.
  return Math.min(...quotas.filter((value) => value > 0));
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function andParents(path) {
  return path === "/" ? [path] : [path, ...andParents(dirname(path))];
}

/**
 * The text of a file; empty where there is none.
 *
 * @param {...string} path
 */
function read(...path) {
  try {
    return readFileSync(join(...path), "utf8");
  } catch {
    return "";
  }
}
