/** What is asked of a tagger. */

import { Tagger } from "../src/index.js";
import { collected, encoded } from "./encoded.js";
import { inCharacters } from "./in-characters.js";

/** @import { Aggregation, Device } from "../index.d.ts" */
/** @import { Request } from "./server.js" */

/**
 * @param {string} path
 * @param {Device} device
 */
export function open(path, device) {
  return Tagger.open(path, { device });
}

/** @type {Record<string, (tagger: Tagger, request: Request) => Promise<unknown>>} */
export const COMMANDS = {
  tokenize: (tagger, { texts }) => tagger.tokenize(texts),
  embed_ids: async (tagger, { input_ids }) => encoded((await tagger.scoreIds(input_ids)).flat()),
  embed: async (tagger, { texts }) => encoded((await tagger.scores(texts)).flat()),
  call: async (tagger, { texts, aggregations }) => {
    const answers = [];
    for (const way of aggregations) {
      const aggregation = /** @type {Aggregation} */ (way);
      const found = await tagger.tag(texts, { aggregation });
      answers.push(found.map((spans, place) => inCharacters(spans, texts[place])));
    }
    return answers;
  },
  stream: async (tagger, { texts, aggregations }) => {
    const answers = [];
    for (const way of aggregations) {
      const aggregation = /** @type {Aggregation} */ (way);
      const found = await collected(tagger.tagEach(texts.values(), { aggregation }));
      answers.push(found.map((spans, place) => inCharacters(spans, texts[place])));
    }
    return answers;
  },
};
