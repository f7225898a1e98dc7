// polybake's browser client, in a page. Told: THREADS MODEL_FILE [side-by-side].
import { Embedder } from "all-minilm-l6-v2";
import { inShares } from "/protocol/calls.js";
import { answer, told } from "/protocol/page.js";

const [threads, model, sideBySide] = told;
const count = sideBySide ? Number(threads) : 1;
const options = { threads: Number(threads) / count };
const embed = await inShares(count, () => Embedder.open(model, options));
await answer(embed, ["onnxruntime-web"]);
