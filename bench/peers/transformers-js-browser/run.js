// transformers.js in a page. Told: THREADS EXPORT_FOLDER [BATCH_SIZE]; without a size all texts are one batch.
import { env, pipeline } from "@huggingface/transformers";
import { inBatches } from "/protocol/calls.js";
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

const packages = ["@huggingface/transformers", "onnxruntime-web", "@huggingface/tokenizers"];
await answer(inBatches(extract, Number(size)), packages);
