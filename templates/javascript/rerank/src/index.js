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
export { Model } from "./model.js";
export { PairModel } from "./pair-model.js";
export { Reranker } from "./reranker.js";
