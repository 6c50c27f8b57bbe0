/** `reads` only looks at files, `changes` may write them. */
export type FolderUse = 'reads' | 'changes';

/**
 * Folders in which commands and file tools work (T10, T13), and files that only the bot reads and writes. A folder is
 * named `GROUP/NAME`, or `GROUP` if the group is a single folder.
 */
export type Folders = Readonly<{
  /** Absolute path of the directory above all folders. */
  root: string;
  /**
   * Does work in folders that are up to date. With `changes`, what it changed is stored before this resolves, and so
   * before the work's result (Q14). Rejects with FolderFull if that can't be stored, and as `Store.commit` does if the
   * queue was lost.
   */
  use<Result>(folders: readonly string[], how: FolderUse, work: () => Promise<Result>): Promise<Result>;
  /** Full names of the folders in a group. */
  list(group: string): Promise<readonly string[]>;
  /** Size in bytes. Counting may stop above `enough`. */
  size(folder: string, enough: number): Promise<number>;
  /** Removes folders here, in the store and in other processes. */
  remove(folders: readonly string[]): Promise<void>;
  /** Removes a file, unless it changed since `before`, in milliseconds since 1970. */
  removeFile(folder: string, name: string, before?: number): Promise<void>;
  /**
   * Removes folders of a group that were not used since `before`, in milliseconds since 1970. If one can't be removed
   * it continues with the others, then rejects.
   */
  tidy(group: string, before: number, mayGo: (name: string) => boolean): Promise<void>;
  shelf: Shelf;
}>;

/** Files that are written atomically and that commands can't reach (M12, T12). */
export type Shelf = Readonly<{
  /** Returns a new path beside the folder's files, on which to write one. */
  draft(folder: string): Promise<string>;
  /** Makes the draft the file of this name, and replaces one that exists. */
  keep(folder: string, name: string, draft: string): Promise<void>;
  /** Path of a file on this machine; undefined if there is none. With `use` the file counts as used now. */
  find(folder: string, name: string, use?: boolean): Promise<string | undefined>;
  names(folder: string): Promise<readonly string[]>;
  remove(folder: string, names: readonly string[]): Promise<void>;
  /** Lists the files of a group with the time of their last use, in milliseconds since 1970. */
  uses(group: string): Promise<readonly Readonly<{ folder: string; path: string; usedAt: number }>[]>;
  /**
   * Removes what this machine does not need: on a disk of its own, empty folders unchanged since `before`; of copies, those
   * unused for a day, or for an hour if the store has them no more.
   */
  sweep(group: string, before: number): Promise<void>;
}>;

/** The folder is larger than the store accepts. Its changes are discarded at the next use. */
export class FolderFull extends Error {
  override readonly name = 'FolderFull';
}
