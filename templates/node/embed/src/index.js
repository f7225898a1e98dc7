/** The public names of this package. */

export { Embedder } from "./embedder.js";
export {
  BaseError as EmbedderError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
