/** The public names of this package. */

export {
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  TaggerError,
  UnknownPromptError,
} from "./errors.js";
export { Model } from "./model.js";
export { Tagger } from "./tagger.js";
