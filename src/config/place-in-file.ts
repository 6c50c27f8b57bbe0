import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import type { KeyPath } from './key-path.ts';
import { locateKeys, type Place } from './locate-keys.ts';

/** Where keys stand in a config file as it is saved now; nothing where it can't be read. */
export function placeInFile(file: string | undefined): (path: KeyPath) => Place | undefined {
  try {
    const text = file === undefined ? '' : readFileSync(file, 'utf8');
    parse(text);
    return locateKeys(text);
  } catch {
    // It was edited since: then a message does without its line.
    return () => undefined;
  }
}
