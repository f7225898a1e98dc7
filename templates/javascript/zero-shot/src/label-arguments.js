/** What callers may give of how labels are asked for. */

import { checkedText, mistyped } from "./arguments.js";

/** A text with a place for a label. @param {unknown} template */
export function checkedTemplate(template) {
  const checked = checkedText(template, "template");
  if (checked.includes("{}")) return checked;
  throw new RangeError(`template is "${checked}"; put {} where the label goes`);
}

/** @param {unknown} multiLabel */
export function checkedMultiLabel(multiLabel) {
  if (typeof multiLabel === "boolean") return multiLabel;
  throw mistyped("multiLabel", multiLabel, "true or false");
}
