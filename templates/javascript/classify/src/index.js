/** The public names of this package. */

export { Classifier } from "./classifier.js";
export {
  ClassifierError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { Model } from "./model.js";
