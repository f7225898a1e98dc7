/** The public names of this package. */

export {
  BaseError as SparseEmbedderError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { SparseEmbedder } from "./sparse-embedder.js";
