// polybake's browser client, in a page. Told: THREADS MODEL_FILE [side-by-side].
import { Embedder } from "all-minilm-l6-v2";
import { answer, told } from "/protocol/page.js";

const [threads, model, sideBySide] = told;
const count = sideBySide ? Number(threads) : 1;
const options = { threads: Number(threads) / count };
const opening = Array.from({ length: count }, () => Embedder.open(model, options));
const embedders = await Promise.all(opening);

/** Each model embeds an equal share. @param {string[]} texts */
async function embed(texts) {
  const share = Math.ceil(texts.length / count);
  const parts = embedders.map((embedder, place) =>
    embedder.embed(texts.slice(place * share, (place + 1) * share)),
  );
  return (await Promise.all(parts)).flat();
}
await answer(embed, ["onnxruntime-web"]);
