/** Errors between threads, with class and fields. */

import * as errors from "./errors.js";

/**
 * @typedef {object} PackedError
 * @property {Error} error
 * @property {PackedError | undefined} cause
 * @property {Record<string, unknown>} fields
 */

/**
 * What a message would lose of an error: its class, unless that is a built-in one, and its fields.
 *
 * @param {any} error
 * @returns {PackedError}
 */
export function packedError(error) {
  const { cause } = error;
  return { error, cause: cause && packedError(cause), fields: { ...error } };
}

/**
 * @param {PackedError} packed
 * @returns {Error}
 */
export function unpackedError({ error, cause, fields }) {
  const Class = Object.values(errors).find(({ name }) => name === fields.name);
  if (Class) Object.setPrototypeOf(error, Class.prototype);
  if (cause) Object.defineProperty(error, "cause", { value: unpackedError(cause) });
  return Object.assign(error, fields);
}
