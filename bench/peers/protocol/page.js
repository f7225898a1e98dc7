// How a runner in a page answers, by way of chromium.js; protocol/answer.py says how.
import { timed } from "./calls.js";

/** The program's arguments, with the model's address in place of its path. */
export const told = new URLSearchParams(location.search).getAll("told");

/** `embed` gives Float32Arrays, of one vector or of several each. */
export async function answer(embed, packages) {
  let request = await say({ versions: await versionsOf(packages) });
  for (;;) {
    const { seconds, vectors } = await timed(embed, request);
    request = await say({ seconds }, request.vectors ? vectors : []);
  }
}

/** Say something, with the bytes of vectors behind it, and give what is asked next. */
async function say(message, vectors = []) {
  const body = new Blob([`${JSON.stringify(message)}\n`, ...vectors]);
  return (await fetch("/", { method: "POST", body })).json();
}

async function versionsOf(packages) {
  const versions = { Chromium: /Chrome\/(\d+)/.exec(navigator.userAgent)[1] };
  for (const name of packages) {
    versions[name] = (await (await fetch(`/node_modules/${name}/package.json`)).json()).version;
  }
  return versions;
}
