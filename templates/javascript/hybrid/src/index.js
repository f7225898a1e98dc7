/** The public names of this package. */

export {
  ClosedError,
  DeviceError,
  HybridEmbedderError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { HybridEmbedder } from "./hybrid-embedder.js";
export { Model } from "./model.js";
