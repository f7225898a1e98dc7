/** The public names of this package. */

export {
  BaseError as ZeroShotClassifierError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  LongTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { ZeroShotClassifier } from "./zero-shot-classifier.js";
