// polybake's Node client. Usage: run.js THREADS MODEL_FILE [side-by-side].
import { Embedder } from "all-minilm-l6-v2";
import { answer } from "../protocol/answer.js";

const [threads, model, sideBySide] = process.argv.slice(2);
const shared = sideBySide
  ? { worker: true, threads: 1, concurrency: Number(threads) }
  : { threads: Number(threads) };
const embedder = await Embedder.open(model, shared);
await answer((texts) => embedder.embed(texts), ["onnxruntime-node", "tokenizers"]);
