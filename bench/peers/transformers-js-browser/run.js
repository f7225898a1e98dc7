// transformers.js in a page. Told: THREADS EXPORT_FOLDER [BATCH_SIZE]; without a size all texts are one batch.
import { env, pipeline } from "@huggingface/transformers";
import { answer, told } from "/protocol/page.js";

const [threads, folder, size = "Infinity"] = told;
env.allowRemoteModels = false;
env.allowLocalModels = true;
env.localModelPath = "/";
env.backends.onnx.wasm.wasmPaths = "/node_modules/onnxruntime-web/dist/";
env.backends.onnx.wasm.numThreads = Number(threads);
const extract = await pipeline("feature-extraction", folder.slice(1), {
  device: "wasm",
  dtype: "fp32",
});

async function embed(texts) {
  const batches = [];
  for (let start = 0; start < texts.length; start += Number(size)) {
    const batch = texts.slice(start, start + Number(size));
    batches.push((await extract(batch, { pooling: "mean", normalize: true })).data);
  }
  return batches;
}

await answer(embed, ["@huggingface/transformers", "onnxruntime-web", "@huggingface/tokenizers"]);
