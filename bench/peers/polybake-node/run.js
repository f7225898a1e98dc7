// polybake's Node client. Usage: run.js THREADS MODEL_FILE.
import { Embedder } from "all-minilm-l6-v2";
import { answer } from "../protocol/answer.js";

const [threads, model] = process.argv.slice(2);
const embedder = await Embedder.open(model, { threads: Number(threads) });
await answer((texts) => embedder.embed(texts), ["onnxruntime-node", "tokenizers"]);
