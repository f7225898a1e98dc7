/** What index.d.ts says is what the code does. */

import type * as declared from "../index.d.ts";
import * as written from "../src/index.js";

written satisfies { [Name in keyof typeof declared]: Pick<(typeof declared)[Name], "prototype"> };
