import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where in the file, after its first line, the source of each URL stands: from and to, in bytes. */
export type KeptSources = Readonly<Record<string, readonly [from: number, to: number]>>;

/** Writes all sources, without their types, into one file for `load-kept-sources.ts`. */
export function keepSources(file: string): void {
  const root = path.join(import.meta.dirname, '../..');
  const index: Record<string, readonly [from: number, to: number]> = {};
  const sources: Buffer[] = [];
  let at = 0;
  for (const name of globSync('{src,test,providers}/**/*.ts', { cwd: root })) {
    const source = Buffer.from(stripTypeScriptTypes(readFileSync(path.join(root, name), 'utf8')));
    index[pathToFileURL(path.join(root, name)).href] = [at, at + source.length];
    at += source.length;
    sources.push(source);
  }
  writeFileSync(file, Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...sources]));
}
