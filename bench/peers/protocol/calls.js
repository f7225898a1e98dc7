// What programs in Node and in a page have in common.

/** Embed as often as is asked; the seconds of each call alone, and the last one's vectors. */
export async function timed(embed, { texts, calls }) {
  const seconds = [];
  let vectors;
  for (let call = 0; call < calls; call++) {
    const begin = performance.now();
    vectors = await embed(texts);
    seconds.push((performance.now() - begin) / 1000);
  }
  return { seconds, vectors };
}

/** Open a model so many times; each embeds an equal share of the texts. */
export async function inShares(count, open) {
  const embedders = await Promise.all(Array.from({ length: count }, open));
  return async (texts) => {
    const share = Math.ceil(texts.length / count);
    const parts = embedders.map((embedder, place) =>
      embedder.embed(texts.slice(place * share, (place + 1) * share)),
    );
    return (await Promise.all(parts)).flat();
  };
}

/** Batches of transformers.js' pipeline, so many texts each. */
export function inBatches(extract, size) {
  return async (texts) => {
    const batches = [];
    for (let start = 0; start < texts.length; start += size) {
      const batch = texts.slice(start, start + size);
      batches.push((await extract(batch, { pooling: "mean", normalize: true })).data);
    }
    return batches;
  };
}
