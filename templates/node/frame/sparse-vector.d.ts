/** The tokens that a text is about, and how much; every other element of its vector is 0. */
export interface SparseVector {
  /** Token ids, ascending. */
  readonly indices: Uint32Array;
  /** Their weights, as many. */
  readonly values: Float32Array;
}
