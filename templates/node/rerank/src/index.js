/** The public names of this package. */

export {
  BaseError as RerankerError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  LongTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { Reranker } from "./reranker.js";
