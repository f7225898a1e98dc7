/** The public names of this package. */

export {
  ClassifierError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  LongTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { Model } from "./model.js";
export { PairClassifier } from "./pair-classifier.js";
export { PairModel } from "./pair-model.js";
