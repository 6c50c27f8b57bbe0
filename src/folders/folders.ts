/** Reads nothing but what is there, or may change files. */
export type FolderUse = 'reads' | 'changes';

/**
 * Folders that commands and file tools work in (T10, T13), and files that only the bot touches. A folder is named
 * `GROUP/NAME`, or `GROUP` if the group is one folder.
 */
export type Folders = Readonly<{
  /** Absolute; each folder is below it. */
  root: string;
  /**
   * Works in folders that are up to date. What `changes` is stored when this resolves: before the result is (Q14).
   * Rejects with FolderFull if it can't be kept, and as `Store.commit` does if the lane was lost.
   */
  use<Result>(folders: readonly string[], how: FolderUse, work: () => Promise<Result>): Promise<Result>;
  /** Full names of a group's folders. */
  list(group: string): Promise<readonly string[]>;
  /** Bytes; stops counting above `enough`. */
  size(folder: string, enough: number): Promise<number>;
  /** Here, in the store and in other processes. */
  remove(folders: readonly string[]): Promise<void>;
  /** A file that did not change since `before`. */
  removeFile(folder: string, name: string, before?: number): Promise<void>;
  /** Removes a group's folders that were not used since `before`. Continues after a failure, then rejects. */
  tidy(group: string, before: number, mayGo: (name: string) => boolean): Promise<void>;
  shelf: Shelf;
}>;

/** Files that are written whole, out of reach of commands (M12, T12). */
export type Shelf = Readonly<{
  /** A new path beside the folder's files. */
  draft(folder: string): Promise<string>;
  /** Takes the draft; replaces a file of this name. */
  keep(folder: string, name: string, draft: string): Promise<void>;
  /** Its path on this machine; undefined if it is gone. A `use` keeps it longer. */
  find(folder: string, name: string, use?: boolean): Promise<string | undefined>;
  names(folder: string): Promise<readonly string[]>;
  remove(folder: string, names: readonly string[]): Promise<void>;
  /** When files of a group were used last. */
  uses(group: string): Promise<readonly Readonly<{ folder: string; path: string; usedAt: number }>[]>;
  /** Removes what nobody needs on this machine: empty folders, and copies unused since `before` or gone from the store. */
  sweep(group: string, before: number): Promise<void>;
}>;

/** What a command left can't be stored: it is discarded at the next use. */
export class FolderFull extends Error {
  override readonly name = 'FolderFull';
}
