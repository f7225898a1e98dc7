/** This package's own words for what every package says. */

import { NamedError } from "./named-error.js";

/** What it calls an opened model file. */
export const CALLED = "embedder";

/** How a text that is in no list is passed. */
export const ONE_TEXT = "call embedQuery(text) or embed([text])";

export class SparseEmbedderError extends NamedError {}

export { SparseEmbedderError as BaseError };
