/** The public names of this package. */

export {
  BaseError as MultiVectorEmbedderError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { MultiVectorEmbedder } from "./multi-vector-embedder.js";
