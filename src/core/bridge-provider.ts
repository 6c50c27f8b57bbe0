/** The namespace of capabilities, such as `notes` in `notes.book`. */
export const namespaceForm = /^[a-z][a-z0-9_-]*$/;

/** A program that carries out the capabilities of one namespace (C2). */
export type BridgeProvider = Readonly<{
  namespace: string;
  /** The program and its arguments, which no shell reads. */
  command: readonly string[];
  timeoutSeconds: number;
}>;
