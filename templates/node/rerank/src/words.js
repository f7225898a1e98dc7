/** This package's own words for what every package says. */

import { NamedError } from "./named-error.js";

/** What it calls an opened model file. */
export const CALLED = "reranker";

/** How a text that is in no list is passed. */
export const ONE_TEXT = "put it into a list";

export class RerankerError extends NamedError {}

export { RerankerError as BaseError };
