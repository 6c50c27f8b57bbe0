import type { IFileSystem } from 'just-bash';

/** What each entry and each write costs beside its bytes, so that endless empty files end too. */
const perWrite = 512;

/** The same file system, which takes `bytes` of writing in all and then says that no space is left. */
export function limitDisk(disk: IFileSystem, bytes: number): IFileSystem {
  let left = bytes;
  const spend = (amount: number, path: string): void => {
    left -= amount + perWrite;
    if (left < 0) throw new Error(`ENOSPC: no space left on device, write '${path}'`);
  };
  const limited: Pick<IFileSystem, 'writeFile' | 'appendFile' | 'mkdir' | 'link' | 'cp'> = {
    async writeFile(path, content, options) {
      spend(content.length, path);
      await disk.writeFile(path, content, options);
    },
    async appendFile(path, content, options) {
      spend(content.length, path);
      await disk.appendFile(path, content, options);
    },
    async mkdir(path, options) {
      spend(0, path);
      await disk.mkdir(path, options);
    },
    // A file with two names can't be changed under the cell's permissions.
    async link(existing) {
      throw new Error(`EPERM: operation not permitted, link '${existing}'`);
    },
    // By reading and writing: the library's own way changes open files' modes, which a cell may not.
    async cp(source, target, options) {
      const { isFile, isDirectory } = await disk.lstat(source);
      if (isFile) return limited.writeFile(target, await disk.readFileBuffer(source));
      if (!isDirectory) throw new Error(`EPERM: operation not permitted, cp '${source}'`);
      if (options?.recursive !== true) throw new Error(`EISDIR: is a directory, cp '${source}'`);
      if (`${target}/`.startsWith(`${source}/`)) throw new Error(`EINVAL: into itself, cp '${source}'`);
      await limited.mkdir(target, { recursive: true });
      for (const name of await disk.readdir(source)) {
        await limited.cp(disk.resolvePath(source, name), disk.resolvePath(target, name), options);
      }
    },
  };
  return new Proxy(disk, {
    get(target, key) {
      const source = Object.hasOwn(limited, key) ? limited : target;
      const value: unknown = Reflect.get(source, key, source);
      return typeof value === 'function' ? (value.bind(source) as unknown) : value;
    },
  });
}
