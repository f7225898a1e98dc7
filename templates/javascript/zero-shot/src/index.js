/** The public names of this package. */

export {
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  LongTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
  ZeroShotClassifierError,
} from "./errors.js";
export { Model } from "./model.js";
export { PairModel } from "./pair-model.js";
export { ZeroShotClassifier } from "./zero-shot-classifier.js";
