import { readFileSync } from 'node:fs';
import path from 'node:path';
import { installation } from '../lib/files/installation.js';

export function skilletVersion(): string {
  const manifest = readFileSync(path.join(installation, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
