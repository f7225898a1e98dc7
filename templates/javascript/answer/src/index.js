/** The public names of this package. */

export { Answerer } from "./answerer.js";
export {
  AnswererError,
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
export { PairModel } from "./pair-model.js";
