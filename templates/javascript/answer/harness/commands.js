/** What is asked of an answerer. */

import { Answerer } from "../src/index.js";
import { inCharacters } from "./in-characters.js";
import { PAIR_COMMANDS } from "./pair-commands.js";

/** @import { Device } from "../src/arguments.js" */
/** @import { Request } from "./answers.js" */

/** @param {string} path @param {Device} device */
export function open(path, device) {
  return Answerer.open(path, { device });
}

/** @type {Record<string, (answerer: Answerer, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  ...PAIR_COMMANDS,
  call: async (answerer, { question, contexts, top, no_answer }) => {
    const answers = [];
    for (const context of contexts) {
      const found = await answerer.answer(question, context, { top, noAnswer: no_answer });
      answers.push(inCharacters(found, context));
    }
    return answers;
  },
};
