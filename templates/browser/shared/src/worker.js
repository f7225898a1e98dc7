/** A model in a thread of its own, which model.js asks; a bundler finds its runtime here. */

import * as runtime from "onnxruntime-web/wasm";
import { serve } from "./serve.js";

serve(async () => runtime);
