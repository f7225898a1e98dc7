/** Token ids of many texts in one buffer. */

/** Rows of token ids, packed once, as the graph takes them. */
export class Rows {
  /**
   * @param {BigInt64Array} ids one row after another
   * @param {Uint32Array} starts where each row starts in `ids`, and where the last one ends
   */
  constructor(ids, starts) {
    this.ids = ids;
    this.starts = starts;
  }

  get length() {
    return this.starts.length - 1;
  }

  /** @param {number} place */
  lengthOf(place) {
    return this.starts[place + 1] - this.starts[place];
  }

  /** @param {number} place */
  idsOf(place) {
    return this.ids.subarray(this.starts[place], this.starts[place + 1]);
  }

  /**
   * A copy of some rows.
   *
   * @param {number[]} places
   */
  pick(places) {
    const starts = new Uint32Array(places.length + 1);
    for (const [row, place] of places.entries()) {
      starts[row + 1] = starts[row] + this.lengthOf(place);
    }
    const ids = new BigInt64Array(starts[places.length]);
    for (const [row, place] of places.entries()) ids.set(this.idsOf(place), starts[row]);
    return new Rows(ids, starts);
  }
}

/**
 * @param {number[][]} rows
 * @returns {Rows}
 */
export function packed(rows) {
  const starts = new Uint32Array(rows.length + 1);
  for (let place = 0; place < rows.length; place++) {
    starts[place + 1] = starts[place] + rows[place].length;
  }
  const ids = new BigInt64Array(starts[rows.length]);
  // Written through the low half of each little-endian int64, which needs no BigInt.
  const low = new Uint32Array(ids.buffer);
  let end = 0;
  for (const row of rows) {
    for (let position = 0; position < row.length; position++, end += 2) low[end] = row[position];
  }
  return new Rows(ids, starts);
}
