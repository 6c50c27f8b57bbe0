/** A file, folder or symbolic link below a stored folder (Q14). */
export type StoredFile = Readonly<{
  /** The path below the folder, with `/` between names. */
  path: string;
  kind: 'file' | 'folder' | 'link';
  executable: boolean;
  /** Size of the file in bytes; 0 for a folder or link. */
  size: number;
  /** When it changed, in milliseconds since 1970. */
  changedAt: number;
  /** Where a link leads; empty for anything else. */
  target: string;
  /** SHA-256 of each piece of `chunkSize` bytes, in hexadecimal and in order. */
  chunks: readonly string[];
}>;

export type FolderChange = Readonly<{
  folder: string;
  set: readonly StoredFile[];
  removed: readonly string[];
  /** If true, paths that are stored already stay as they are. */
  onlyNew?: boolean;
}>;

/** Contents of folders, shared by all processes (Q14). A folder is named `GROUP` or `GROUP/NAME`. */
export type StoredFiles = Readonly<{
  /**
   * The versions of folders, which change with each write. A folder that is not stored has none. It also notes, once an
   * hour, that a folder is used.
   */
  versions(folders: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Reads a folder; undefined if it is not stored. With `paths` it returns only those. */
  read(
    folder: string,
    paths?: readonly string[],
  ): Promise<Readonly<{ version: string; files: readonly StoredFile[] }> | undefined>;
  /**
   * Changes a folder in one transaction, refused if the queue was lost. All chunks have to be stored already. Returns
   * the versions before and after.
   */
  write(change: FolderChange): Promise<Readonly<{ before: string | undefined; after: string }>>;
  /** Those of the chunks that are not stored. The others stay for at least an hour. */
  missing(chunks: readonly string[]): Promise<readonly string[]>;
  /** Stores a chunk. It is not fenced, because its name is the hash of its content. */
  put(chunk: string, bytes: Buffer): Promise<void>;
  /** The bytes of chunks; undefined for those that are gone. */
  get(chunks: readonly string[]): Promise<readonly (Buffer | undefined)[]>;
  /** How many bytes all files of these folders have together. */
  size(folders: readonly string[]): Promise<number>;
  /** Names of the folders of a group. */
  list(group: string): Promise<readonly string[]>;
  /** Notes the use of a file once a day, so that it is kept longer. */
  touch(folder: string, path: string): Promise<void>;
  /** Files of a group with the time of their last use. */
  uses(group: string): Promise<readonly Readonly<{ folder: string; path: string; usedAt: number }>[]>;
  /** Removes whole folders. It is not fenced. */
  remove(folders: readonly string[]): Promise<void>;
  /** Removes files of a folder that did not change since `before`, or all if that is undefined. It is not fenced. */
  removeFiles(folder: string, paths: readonly string[], before?: number): Promise<void>;
  /** Removes those of the folders that were not used since `before`, and returns their names. */
  removeUnused(folders: readonly string[], before: number): Promise<readonly string[]>;
}>;

/** Size of a chunk in bytes, which the last one of a file may not reach. */
export const chunkSize = 1_048_576;
