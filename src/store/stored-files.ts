/** A file, folder or symbolic link below a stored folder (Q14). */
export type StoredFile = Readonly<{
  /** Below the folder, with `/`. */
  path: string;
  kind: 'file' | 'folder' | 'link';
  executable: boolean;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970. */
  changedAt: number;
  /** Of a link. */
  target: string;
  /** SHA-256 of each piece of `chunkSize` bytes, in hex, in order. */
  chunks: readonly string[];
}>;

export type FolderChange = Readonly<{
  folder: string;
  set: readonly StoredFile[];
  removed: readonly string[];
  /** Paths that are known stay as they are. */
  onlyNew?: boolean;
}>;

/** Contents of folders, shared by all processes (Q14). A folder is named `GROUP` or `GROUP/NAME`. */
export type StoredFiles = Readonly<{
  /** Versions change with each write; an unknown folder has none. Notes the use of a folder once an hour. */
  versions(folders: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Undefined if unknown. With `paths` only those. */
  read(
    folder: string,
    paths?: readonly string[],
  ): Promise<Readonly<{ version: string; files: readonly StoredFile[] }> | undefined>;
  /** In one transaction, refused if the lane was lost. All chunks must be stored. Returns the versions. */
  write(change: FolderChange): Promise<Readonly<{ before: string | undefined; after: string }>>;
  /** Those that are not stored. The others stay for an hour at least. */
  missing(chunks: readonly string[]): Promise<readonly string[]>;
  /** Not fenced: content names itself. */
  put(chunk: string, bytes: Buffer): Promise<void>;
  /** Undefined for those that are gone. */
  get(chunks: readonly string[]): Promise<readonly (Buffer | undefined)[]>;
  /** Bytes of all files. */
  size(folders: readonly string[]): Promise<number>;
  /** Of a group. */
  list(group: string): Promise<readonly string[]>;
  /** Notes the use of a file once a day, so that it is kept longer. */
  touch(folder: string, path: string): Promise<void>;
  /** When files of a group were used last. */
  uses(group: string): Promise<readonly Readonly<{ folder: string; path: string; usedAt: number }>[]>;
  /** Whole folders. Not fenced. */
  remove(folders: readonly string[]): Promise<void>;
  /** Files of any folder, if they did not change since `before`. Not fenced. */
  removeFiles(folder: string, paths: readonly string[], before?: number): Promise<void>;
  /** Those not used since. Returns them. */
  removeUnused(folders: readonly string[], before: number): Promise<readonly string[]>;
}>;

/** Bytes. */
export const chunkSize = 1_048_576;
