/** The proof that a GPU runs a model. */

/// <reference types="node" />

/**
 * Open the file on `cuda` once more, run one token, and read in ONNX Runtime's profile where each node
 * ran. The thread of the caller stands still meanwhile.
 *
 * @throws {DeviceError} the device is not there, or does not run every matrix product
 */
export function checkProducts(path: string | URL): Promise<void>;
