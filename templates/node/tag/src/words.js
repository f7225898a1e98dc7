/** This package's own words for what every package says. */

import { NamedError } from "./named-error.js";

/** What it calls an opened model file. */
export const CALLED = "tagger";

/** How a text that is in no list is passed. */
export const ONE_TEXT = "call tag([text])";

export class TaggerError extends NamedError {}

export { TaggerError as BaseError };
