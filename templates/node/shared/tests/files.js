/** Files that are not the baked one. */

import { createHash } from "node:crypto";

/** Copies of a file with another letter in one place, and the error of who opens and checks them. @param {Buffer} whole */
export function* otherFiles(whole) {
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
