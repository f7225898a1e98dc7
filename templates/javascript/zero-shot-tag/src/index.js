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
  ZeroShotTaggerError,
} from "./errors.js";
export { Model } from "./model.js";
export { PairModel } from "./pair-model.js";
export { ZeroShotTagger } from "./zero-shot-tagger.js";
