/**
 * A model file: its address, relative to the page's; a File or Blob; or its bytes, which are handed over
 * to the model's thread, so that the buffer is empty afterwards.
 */
export type Source = string | URL | Blob | ArrayBuffer;

/** How a model file is opened. */
export interface OpenOptions {
  /** By default `cpu`, which is WebAssembly; a browser has no other one. */
  readonly device?: "cpu" | undefined;
  /** Within one operator; 1 but for pages that are isolated from other origins, where half of the processors. */
  readonly threads?: number | null | undefined;
  /**
   * Whether to keep the graph of a downloaded file in the browser, by its digest, so that only the head is
   * downloaded the next time; by default false. One graph is kept for each model's name.
   */
  readonly cache?: boolean | undefined;
  /** Called as bytes of the file come. */
  readonly progress?: ((progress: { loaded: number; total: number }) => void) | undefined;
  /** Ends the opening with its reason, and with it a download. */
  readonly signal?: AbortSignal | undefined;
}
