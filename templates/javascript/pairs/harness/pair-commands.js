/** What is asked of every model of pairs. */

import { encoded } from "./encoded.js";

/** @import { PairModel } from "../src/pair-model.js" */
/** @import { Request } from "./answers.js" */

/** @type {Record<string, (model: PairModel, request: Request) => Promise<unknown>>} */
export const PAIR_COMMANDS = {
  tokenize: async (model, { texts }) => {
    const tokens = await model.tokenize(texts);
    return {
      input_ids: tokens.map(({ ids }) => ids),
      type_ids: tokens.map(({ typeIds }) => typeIds),
    };
  },
  embed_ids: async (model, { input_ids, type_ids }) => {
    const rows = input_ids.map((ids, place) => ({ ids, typeIds: type_ids[place] }));
    return encoded((await model.scoreIds(rows)).flat());
  },
  embed: async (model, { texts }) => encoded((await model.scorePairs(texts)).flat()),
};
