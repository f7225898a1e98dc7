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
export { Tagger } from "./tagger.js";
