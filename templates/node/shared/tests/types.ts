/** What index.d.ts says is what the code does. */

import type * as declared from "../index.d.ts";
import * as written from "../src/index.js";

type Declared = typeof declared;

written satisfies { [Name in keyof Declared]: Pick<Declared[Name], "prototype"> };
