/** A model in a thread of its own, which thread.js asks; a bundler finds its runtime here. */

import * as runtime from "onnxruntime-web/wasm";
import { serve } from "./serve.js";

serve(async () => runtime);
