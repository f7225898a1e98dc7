/** The public names of this package. */

export {
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  LongTextError,
  ModelError,
  RerankerError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { Reranker } from "./reranker.js";
