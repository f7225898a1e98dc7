// transformers.js. Usage: run.js THREADS EXPORT_FOLDER [BATCH_SIZE]; without a size all texts are one batch.
import { basename, dirname } from "node:path";
import { env, pipeline } from "@huggingface/transformers";
import { answer } from "../protocol/answer.js";

const [threads, folder, size = "Infinity"] = process.argv.slice(2);
env.allowRemoteModels = false;
env.localModelPath = dirname(folder);
const extract = await pipeline("feature-extraction", basename(folder), {
  dtype: "fp32",
  session_options: { intraOpNumThreads: Number(threads) },
});

async function embed(texts) {
  const batches = [];
  for (let start = 0; start < texts.length; start += Number(size)) {
    const batch = texts.slice(start, start + Number(size));
    batches.push((await extract(batch, { pooling: "mean", normalize: true })).data);
  }
  return batches;
}

await answer(embed, ["@huggingface/transformers", "onnxruntime-node", "@huggingface/tokenizers"]);
