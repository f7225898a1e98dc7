// transformers.js. Usage: run.js THREADS EXPORT_FOLDER [BATCH_SIZE]; without a size all texts are one batch.
import { basename, dirname } from "node:path";
import { env, pipeline } from "@huggingface/transformers";
import { answer } from "../protocol/answer.js";
import { inBatches } from "../protocol/calls.js";

const [threads, folder, size = "Infinity"] = process.argv.slice(2);
env.allowRemoteModels = false;
env.localModelPath = dirname(folder);
const extract = await pipeline("feature-extraction", basename(folder), {
  dtype: "fp32",
  session_options: { intraOpNumThreads: Number(threads) },
});

const packages = ["@huggingface/transformers", "onnxruntime-node", "@huggingface/tokenizers"];
await answer(inBatches(extract, Number(size)), packages);
