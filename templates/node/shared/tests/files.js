/** Files that are not the baked one. */

import { createHash } from "node:crypto";

/** A file that is cut, or has another letter in one place, and the error of who opens and checks it. @param {Buffer} whole */
export function* otherFiles(whole) {
  const cut = [0, 0.01, 0.3, 0.99, 0.99999].map((share) => whole.subarray(0, whole.length * share));
  for (const data of cut) yield { data, name: "ModelError", message: /copy the file|generate$/ };
  for (const [entry, behind, name, message] of /** @type {const} */ ([
    ["contract", "", "ModelError", /has contract .*, expected .*: polybake generate/],
    ["manifest", '"generator":"', "ModelError", /does not match its digest; copy the file again/],
    ["fixture", '"data":"', "SelfCheckError", /differs by/],
    ["fixture", '"input_ids":[[', "SelfCheckError", /token ids/],
  ])) {
    const data = Buffer.from(whole);
    const [start] = JSON.parse(data.toString("latin1", 23, 279))[entry];
    // Of a number in base64 the letter with its highest bits.
    const place = data.indexOf(behind, start) + behind.length + (behind === '"data":"' ? 4 : 0);
    data[place] = data[place] === 0x38 ? 0x37 : 0x38;
    const digest = createHash("sha256").update(data.subarray(279)).digest("hex");
    if (entry !== "manifest") data.write(digest, 34);
    yield { data, name, message };
  }
}
