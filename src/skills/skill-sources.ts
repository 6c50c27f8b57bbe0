import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Config } from '../config/complete-config.ts';
import {
  addressText,
  readAddress,
  repositoryAddress,
  readGitUrl,
  type SourceAddress,
} from '../config/source-address.ts';
import type { Diagnostic } from '../core/codes.ts';
import { OperatorError } from '../core/errors.ts';
import { lockBroken } from './install/locked-skill-store.ts';
import { readLock, type LockedSource } from './install/lock-file.ts';
import { skilletHere } from '../core/skillet-here.ts';

export type SkillSource = Readonly<{
  source: string;
  address: SourceAddress;
  /** Branch, tag or commit. The config's wins over the lock's. */
  ref?: string;
  inConfig: boolean;
  /** Undefined: nobody approved anything of this source, so nothing is loaded. */
  locked?: LockedSource;
}>;

/** All sources of config and lock, by address. Throws OperatorError if the lock can't be read. */
export function skillSources(config: Config): readonly SkillSource[] {
  const reading = readLock(config.bot.dataDir);
  if (!reading.ok) throw new OperatorError(`${reading.path} ${lockBroken(reading).message}`);
  const bySource = new Map<string, SkillSource>();
  for (const { repo, url, path, ref } of config.skills.sources) {
    const address = configuredAddress({ repo, url, path });
    const source = addressText(address);
    bySource.set(source, { source, address, ref, inConfig: true });
  }
  for (const locked of reading.lock.sources) {
    const { source } = locked;
    const known = bySource.get(source);
    const ref = known === undefined ? locked.ref : known.ref;
    bySource.set(source, {
      source,
      address: known?.address ?? lockedAddress(source),
      ref,
      inConfig: known !== undefined,
      locked,
    });
  }
  return [...bySource.values()].sort((a, b) => (a.source < b.source ? -1 : 1));
}

export function sourceDiagnostics(config: Config): readonly Diagnostic[] {
  if (config.skills.sources.length === 0 || !readLock(config.bot.dataDir).ok) return [];
  return skillSources(config)
    .filter(({ locked }) => locked === undefined)
    .map(({ source }) => ({
      level: 'warning',
      code: 'SOURCE_NOT_AGREED',
      message: `nobody agreed to any skill of ${source}, so none is used: look at them with "${skilletHere()} skill add ${source}"`,
      field: 'skills.sources',
    }));
}

/** Reads a source as a person names it for `skill add`. Throws OperatorError that says what to write. */
export function namedSource(text: string): SourceAddress {
  const read = readAddress(text, { cwd: process.cwd(), home: homedir() });
  if (!read.ok) throw new OperatorError(`That is no source: ${read.problem}.`);
  return asRepository(read.address);
}

function configuredAddress({
  repo,
  url,
  path,
}: {
  repo: string | undefined;
  url: string | undefined;
  path: string | undefined;
}): SourceAddress {
  if (repo !== undefined) return repositoryAddress(repo);
  if (path !== undefined) return asRepository({ kind: 'folder', path });
  const read = readGitUrl(url ?? '');
  if (!read.ok) throw new OperatorError(`[[skills.sources]]: ${read.problem}.`);
  return read.address;
}

/** A bare repository has its files in git's own form, so git has to read it. */
function asRepository(address: SourceAddress): SourceAddress {
  if (address.kind !== 'folder') return address;
  const has = (name: string): boolean => existsSync(join(address.path, name));
  if (!has('HEAD') || !has('objects') || !has('refs') || has('SKILL.md')) return address;
  return { kind: 'git', transport: 'file', url: pathToFileURL(address.path).href.replace(/\/+$/, '') };
}

function lockedAddress(source: string): SourceAddress {
  const read = readAddress(source, { cwd: '/', home: homedir() });
  if (!read.ok)
    throw new OperatorError(`skills.lock.toml names a source that can't be used: ${read.problem}.`);
  return read.address;
}
