/** What files a channel can send. `largest` is in bytes. */
export type FileLimits = Readonly<{
  largest: number;
  /** False if the text has to be a message of its own beside the file. */
  fitsCaption(markdown: string): boolean;
  /** Files for which it returns the same word form albums of up to ten. Undefined: the file is sent alone. */
  album?(file: Readonly<{ mime: string; size: number }>): string | undefined;
}>;
