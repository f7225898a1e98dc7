/** The public names of this package. */

export {
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  MultiVectorEmbedderError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { Model } from "./model.js";
export { MultiVectorEmbedder } from "./multi-vector-embedder.js";
