/** What callers may give of labels. */

import { checkedText, checkedTexts, typeOf } from "./arguments.js";

/** At least one label, and none twice. @param {unknown} labels */
export function checkedLabels(labels) {
  const checked = checkedTexts(labels, "labels");
  if (checked.length === 0) throw new RangeError("labels is empty; give at least one");
  const place = checked.findIndex((label, index) => checked.indexOf(label) < index);
  if (place < 0) return checked;
  throw new RangeError(`labels[${place}] is "${checked[place]}" again; give each label once`);
}

/** A text with a place for a label. @param {unknown} template */
export function checkedTemplate(template) {
  const checked = checkedText(template, "template");
  if (checked.includes("{}")) return checked;
  throw new RangeError(`template is "${checked}"; put {} where the label goes`);
}

/** @param {unknown} multiLabel */
export function checkedMultiLabel(multiLabel) {
  if (typeof multiLabel === "boolean") return multiLabel;
  throw new TypeError(`multiLabel is ${typeOf(multiLabel)}; expected true or false`);
}
