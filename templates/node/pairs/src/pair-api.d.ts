/** The types that the clients of every task of pairs have. */

import type { CallOptions, Vector } from "./api.js";
import { BaseError, OpenModel } from "./api.js";

/** Two texts. */
export type Pair = readonly [string, string];

/** Pairs of texts, one after another: an array, a generator, or any other iterable. */
export type Pairs = Iterable<Pair> & object;

/** The tokens of a pair. */
export interface Tokens {
  /** Special tokens included. */
  readonly ids: readonly number[];
  /** Which text each token belongs to, as the tokenizer counts them. */
  readonly typeIds: readonly number[];
}

/** A model file whose rows are pairs of texts, opened. */
export class PairModel<T = Vector> extends OpenModel {
  protected constructor();

  /** The tokens of each pair, cut and joined, not padded. */
  tokenize(pairs: Pairs): Promise<Tokens[]>;

  /** What the graph gives for each pair, in their order. */
  scorePairs(pairs: Pairs, options?: CallOptions): Promise<T[]>;

  /**
   * Run the tokens of pairs as one batch, padded to the longest: what the graph gives for each.
   *
   * @throws {InvalidIdsError} an id or a type that the model does not have, or too many of them
   */
  scoreIds(rows: readonly Tokens[]): Promise<T[]>;
}

/** A text that is not cut leaves no room for the one beside it. */
export class LongTextError extends BaseError {}
