/** What a tokenizer treats by itself, and its words. */

/**
 * What a tokenizer makes of a string: for each token the characters that it stands for, and its word.
 *
 * @typedef {{ getOffsets(): number[][], getWordIds(): (number | null | undefined)[] }} Encoding
 */

const GAP = /[ \t\n\r]/;

/** No word ends in it. */
const WHITE_SPACE = /\p{White_Space}/u;

/**
 * A word of a text, and its tokens among those of its chunk or part.
 *
 * @typedef {object} Word
 * @property {number} start where it begins in the text
 * @property {number} end
 * @property {number} first its first token
 * @property {number} last the one behind its last
 */

/**
 * What a tokenizer treats by itself: what lies between the ends of two gaps, or a piece of that where
 * it is too long.
 *
 * @typedef {object} Chunk
 * @property {number} start where it begins in the text, mostly with a gap
 * @property {number} end
 * @property {number} tokens how many it has; those of a gap are mostly no word's
 * @property {Word[]} words
 * @property {number} [inner] of a piece alone, where it begins behind its context
 */

/**
 * A chunk with which a text begins; where it is all gap, it has no words.
 *
 * @param {string} chunk @param {Encoding} encoding
 * @param {boolean} byGaps whether words end at gaps alone; else also where the tokenizer ends them
 * @returns {Chunk}
 */
export function chunkOf(chunk, encoding, byGaps) {
  const gap = chunk.search(/[^ \t\n\r]|$/);
  const behind = endWithout(GAP, chunk, gap, chunk.length);
  const units = unitsOf(chunk);
  const starts = encoding.getOffsets().map(([start]) => units[start]);
  const ends = encoding.getOffsets().map(([, end]) => units[end]);
  const groups = groupsOf(encoding.getWordIds())
    .filter(({ first, last }) => starts[first] < behind && ends[last - 1] > gap)
    .map((group) => ({ ...group, start: Math.max(gap, starts[group.first]) }));
  if (byGaps && groups.length > 0) {
    const { last } = groups[groups.length - 1];
    groups.splice(0, groups.length, { ...groups[0], last, start: gap });
  }
  const words = groups.map((group, place) => {
    const end = groups[place + 1]?.start ?? behind;
    return { ...group, end: endWithout(WHITE_SPACE, chunk, group.start, end) };
  });
  return {
    start: 0,
    end: chunk.length,
    tokens: starts.length,
    words: words.filter(({ start, end }) => start < end),
  };
}

/** Where characters begin, and the last one ends: tokenizers counts them. @param {string} text */
export function unitsOf(text) {
  const units = [0];
  for (const { length } of text) units.push(units[units.length - 1] + length);
  return units;
}

/**
 * Neighbouring tokens that are of one word, or of none.
 *
 * @param {(number | null | undefined)[]} wordIds of each token
 */
function groupsOf(wordIds) {
  const firsts = [...wordIds.keys()].filter(
    (token) => token === 0 || wordIds[token] !== wordIds[token - 1],
  );
  return firsts.map((first, place) => ({ first, last: firsts[place + 1] ?? wordIds.length }));
}

/**
 * Where a part of a text ends without the spaces behind it.
 *
 * @type {(space: RegExp, text: string, start: number, end: number) => number}
 */
function endWithout(space, text, start, end) {
  let last = end;
  while (last > start && space.test(text[last - 1])) last--;
  return last;
}

/** A chunk behind so much of a text. @type {(chunk: Chunk, by: number) => Chunk} */
export function moved({ start, end, tokens, words, inner }, by) {
  return {
    start: start + by,
    end: end + by,
    tokens,
    words: words.map((word) => ({ ...word, start: word.start + by, end: word.end + by })),
    ...(inner !== undefined && { inner: inner + by }),
  };
}
