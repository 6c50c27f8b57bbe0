import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/complete-config.ts';
import { systemZone } from '../../core/local-time.ts';
import { freeSpace } from '../../lib/files/free-space.ts';
import { installation } from '../../lib/files/installation.js';
import { byteSize } from '../../lib/text/text.ts';
import { leftForOthers } from '../../runs/received-files.ts';
import { check, type Check, type Found } from './finding.ts';

/** What the doctor needs to know about the machine. */
export type Machine = Readonly<{
  /** The version of Node, such as `24.21.0`. */
  node: string;
  /** The current time in Unix milliseconds. */
  now: number;
  /** How many bytes this user may still write to the folder. Undefined: it is not known. */
  free(folder: string): number | undefined;
  /** How many files a process may have open. Undefined where that is not known. */
  mostFiles: number | undefined;
}>;

export function thisMachine(): Machine {
  return {
    node: process.versions.node,
    now: Date.now(),
    free: freeSpace,
    mostFiles: mostFilesHere(),
  };
}

const manifest = path.join(installation, 'package.json');

export function checkNode({ node }: Machine): Check {
  const { engines } = JSON.parse(readFileSync(manifest, 'utf8')) as { engines: { node: string } };
  const oldest = Number(/\d+/.exec(engines.node)?.[0]);
  const isOld = Number(node.split('.')[0]) < oldest;
  const message = `this is Node ${node}, and Skillet needs ${oldest} or newer`;
  return check('node', node, isOld ? [{ level: 'error', code: 'NODE_OLD', message }] : []);
}

/** Checks the clock. A file from the future shows that the clock is behind. */
export function checkClock({ now }: Machine, files: readonly string[]): Check {
  const newest = Math.max(
    ...[manifest, ...files].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
  const message = `the clock says ${day(now)}, and a file here was written on ${day(newest)}`;
  const found: readonly Found[] =
    newest > now + dayMs ? [{ level: 'error', code: 'CLOCK_WRONG', message }] : [];
  return check('clock', `${new Date(now).toISOString().slice(0, 16)}Z, zone ${systemZone()}`, found);
}

/** Checks the free space for the data directory and the workspace. */
export function checkDisk(machine: Machine, { bot }: Config): Check {
  const places = [...new Set([bot.dataDir, bot.workspace].map(nearestFolder))];
  const rooms = places.flatMap((place) => {
    const free = machine.free(place);
    return free === undefined ? [] : [{ place, free }];
  });
  const found = rooms
    .filter(({ free }) => free < leftForOthers)
    .map(({ place, free }): Found => {
      const level = free < leftForOthers / 10 ? 'error' : 'warning';
      return { level, code: 'DISK_LOW', message: `${byteSize(free)} are left for ${place}`, path: place };
    });
  const least = Math.min(...rooms.map(({ free }) => free));
  return check('disk', rooms.length === 0 ? 'free space not known' : `${byteSize(least)} free`, found);
}

const fewFiles = 256;

/** Checks how many files a process may have open. Empty if there are enough. */
export function checkOpenFiles({ mostFiles }: Machine): readonly Check[] {
  if (mostFiles === undefined || mostFiles >= fewFiles) return [];
  const message = `a process may have ${mostFiles} files open, and a busy bot needs more than ${fewFiles}`;
  return [check('files', `at most ${mostFiles} open`, [{ level: 'warning', code: 'FILES_FEW', message }])];
}

/** Reads the hard limit, because Node raises its own limit to it. */
function mostFilesHere(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, hard = ''] = /^Max open files +\S+ +(\d+)/m.exec(limits) ?? [];
    return hard === '' ? undefined : Number(hard);
  } catch {
    return undefined;
  }
}

const dayMs = 24 * 3_600_000;

function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The nearest folder that exists, because the place itself may not exist yet. */
function nearestFolder(place: string): string {
  const isThere = statSync(place, { throwIfNoEntry: false }) !== undefined;
  return isThere || place === path.dirname(place) ? place : nearestFolder(path.dirname(place));
}
