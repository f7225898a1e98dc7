// polybake's Node client. Usage: run.js THREADS MODEL_FILE [side-by-side].
import { Embedder } from "all-minilm-l6-v2";
import { answer } from "../protocol/answer.js";
import { inShares } from "../protocol/calls.js";

const [threads, model, sideBySide] = process.argv.slice(2);
const count = sideBySide ? Number(threads) : 1;
const options = { threads: Number(threads) / count };
const embed = await inShares(count, () => Embedder.open(model, options));
await answer(embed, ["onnxruntime-node", "tokenizers"]);
