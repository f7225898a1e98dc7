/**
 * Compact JSON in which every character beyond ASCII is escaped.
 *
 * @param {unknown} value
 */
export function asciiJson(value) {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
