/** What callers may give of pairs. */

import { checkedNumbers, checkedRows, isList, mistyped, typeOf } from "./arguments.js";
import { InvalidIdsError, InvalidTextError } from "./errors.js";
import { PIECES, rowOf } from "./tokens.js";

/** @import { Text } from "./tokens.js" */

/** The highest type that a token is given. */
const LAST_TYPE = Math.max(...PIECES.map(({ type_id }) => type_id));

/** @param {any} pairs @returns {Text[]} */
export function checkedPairs(pairs) {
  if (typeOf(pairs).toLowerCase() === "string" || typeof pairs?.[Symbol.iterator] !== "function") {
    throw new TypeError(`expected a list of pairs of texts, got ${typeOf(pairs)}`);
  }
  return Array.from(pairs, (pair, index) => {
    const isPair = Array.isArray(pair) && pair.length === 2;
    if (!isPair || !pair.every((text) => typeof text === "string")) {
      throw mistyped(`pairs[${index}]`, pair, "two strings");
    }
    if (!pair.every((text) => text.isWellFormed())) {
      throw new InvalidTextError(`pairs[${index}] is not valid Unicode; repair or drop it`, index);
    }
    return [pair[0], pair[1]];
  });
}

/** Rows of one number a token. @param {any} rows */
export function checkedTokens(rows) {
  if (!Array.isArray(rows)) {
    throw new TypeError(`expected rows of tokens, got ${typeOf(rows)}`);
  }
  for (const [number, row] of rows.entries()) {
    if (!isList(row?.ids) || !isList(row?.typeIds)) {
      throw mistyped(`rows[${number}]`, row, "Tokens");
    }
  }
  const ids = checkedRows(rows.map((row) => row.ids));
  return ids.map((row, number) => {
    const { typeIds } = rows[number];
    if (typeIds.length !== row.length) {
      const counts = `${row.length} ids and ${typeIds.length} types`;
      throw new InvalidIdsError(`rows[${number}] has ${counts}; give as many`, number);
    }
    const name = `rows[${number}].typeIds`;
    return rowOf(row, checkedNumbers(typeIds, LAST_TYPE, name, number));
  });
}
