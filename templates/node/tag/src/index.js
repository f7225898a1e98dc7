/** The public names of this package. */

export {
  BaseError as TaggerError,
  ClosedError,
  DeviceError,
  InvalidIdsError,
  InvalidTextError,
  ModelError,
  SelfCheckError,
  UnknownPromptError,
} from "./errors.js";
export { Tagger } from "./tagger.js";
