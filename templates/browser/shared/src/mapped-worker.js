/** The same without a bundler: where the runtime is, the page's import map says, which no worker has. */

import { serve } from "./serve.js";

serve((address) => import(/* @vite-ignore */ /* webpackIgnore: true */ address));
