import { lstatSync, mkdirSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { changeableByOthers } from '../lib/files/changeable-by-others.js';
import { installation } from '../lib/files/installation.js';

/**
 * A folder for compiled code that this user alone can write, or nothing. Code is read from there and run as it stands, and
 * without a folder Node takes one below /tmp that anybody can make first (S10).
 * @param {readonly string[]} places
 * @returns {string | undefined}
 */
export function compileCacheFolder(
  places = [path.join(installation, 'node_modules/.cache/skillet'), path.join(homedir(), '.cache/skillet')],
) {
  return places.find(isOurs);
}

/**
 * Why the folder that NODE_COMPILE_CACHE already gave Node can't be trusted (S10).
 *
 * @param {string | undefined} folder
 * @returns {string | undefined}
 */
export function untrustedCompileCache(folder = getCompileCacheDir()) {
  if (folder === undefined) return undefined;
  const problem = changeableByOthers(folder);
  if (problem === undefined) return undefined;
  return `Others could change the code that Skillet runs: NODE_COMPILE_CACHE: ${problem}, or leave that variable out.`;
}

/**
 * @param {string} folder
 * @returns {boolean}
 */
function isOurs(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const stat = lstatSync(folder);
    const us = process.getuid?.() ?? stat.uid;
    return stat.isDirectory() && stat.uid === us && changeableByOthers(folder) === undefined;
  } catch (error) {
    // One that can't be made or looked at is none of ours.
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
