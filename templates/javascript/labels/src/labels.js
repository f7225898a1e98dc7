/** Labels that callers ask for, checked before anything is run. */

import { checkedTexts } from "./arguments.js";

/** At least one label, and none twice. @param {unknown} labels */
export function checkedLabels(labels) {
  const checked = checkedTexts(labels, "labels");
  if (checked.length === 0) throw new RangeError("labels is empty; give at least one");
  const place = checked.findIndex((label, index) => checked.indexOf(label) < index);
  if (place < 0) return checked;
  throw new RangeError(`labels[${place}] is "${checked[place]}" again; give each label once`);
}
