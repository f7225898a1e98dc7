/** The public names of this package. */

export { Embedder } from "./embedder.js";
export {
  ClosedError,
  DeviceError,
  EmbedderError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { Model } from "./model.js";
