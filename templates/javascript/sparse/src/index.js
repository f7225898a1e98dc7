/** The public names of this package. */

export {
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  SparseEmbedderError,
  UnknownPromptError,
} from "./errors.js";
export { Model } from "./model.js";
export { SparseEmbedder } from "./sparse-embedder.js";
