/** The path of a model file. */
export type Source = string | URL;

/** How a model file is opened. */
export interface OpenOptions {
  /** By default `cpu`; there is no fall-back from one device to the other. */
  readonly device?: "cpu" | "cuda" | undefined;
  /** Within one operator; by default one a physical core, or as many as a container leaves. */
  readonly threads?: number | null | undefined;
}
