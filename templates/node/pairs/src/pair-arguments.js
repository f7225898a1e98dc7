/** What calls may be given of pairs. */

import { types } from "node:util";
import { checkedRows, isList, isWhole, numberOr, typeOf } from "./arguments.js";
import { CONTRACT } from "./contract.js";
import { InvalidIdsError, InvalidTextError } from "./errors.js";
import { rowOf } from "./tokens.js";

/** @import { Pair } from "./contract.js" */
/** @import { Text } from "./tokens.js" */

const { pieces } = /** @type {Pair} */ (CONTRACT.pair);

/** The highest type that the tokenizer gives a token. */
const LAST_TYPE = Math.max(...pieces.map(({ type_id }) => type_id));

/**
 * @param {any} pairs
 * @returns {Text[]}
 */
export function checkedPairs(pairs) {
  const isText = typeof pairs === "string" || types.isStringObject(pairs);
  if (isText || typeof pairs?.[Symbol.iterator] !== "function") {
    throw new TypeError(`expected a list of pairs of texts, got ${typeOf(pairs)}`);
  }
  return Array.from(pairs, checkedPair);
}

/**
 * @param {any} pair
 * @param {number} index
 * @returns {Text}
 */
function checkedPair(pair, index) {
  const isPair = Array.isArray(pair) && pair.length === 2;
  if (!isPair || !pair.every((text) => typeof text === "string")) {
    throw new TypeError(`pairs[${index}] is ${typeOf(pair)}; expected two strings`);
  }
  if (!pair.every((text) => text.isWellFormed())) {
    throw new InvalidTextError(`pairs[${index}] is not valid Unicode; repair or drop it`, index);
  }
  return [pair[0], pair[1]];
}

/**
 * @param {any} rows
 * @returns {number[][]} one number a token
 */
export function checkedTokens(rows) {
  if (!Array.isArray(rows)) {
    throw new TypeError(`expected rows of tokens, got ${typeOf(rows)}`);
  }
  for (const [number, row] of rows.entries()) {
    if (!isList(row?.ids) || !isList(row?.typeIds)) {
      throw new TypeError(`rows[${number}] is ${typeOf(row)}; expected Tokens`);
    }
  }
  const ids = checkedRows(rows.map((row) => row.ids));
  return ids.map((row, number) => rowOf(row, checkedTypes(rows[number].typeIds, row, number)));
}

/**
 * @param {ArrayLike<unknown>} typeIds
 * @param {number[]} ids
 * @param {number} row
 */
function checkedTypes(typeIds, ids, row) {
  if (typeIds.length !== ids.length) {
    const counts = `${ids.length} ids and ${typeIds.length} types`;
    throw new InvalidIdsError(`rows[${row}] has ${counts}; give as many`, row);
  }
  return Array.from(typeIds, (value, place) => {
    const type = typeof value === "bigint" ? Number(value) : value;
    if (isWhole(type) && type >= 0 && type <= LAST_TYPE) return type;
    const range = `a whole number from 0 to ${LAST_TYPE}`;
    const fault = `rows[${row}].typeIds[${place}] is ${numberOr(type)}; expected ${range}`;
    throw new InvalidIdsError(fault, row);
  });
}
