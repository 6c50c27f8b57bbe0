import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from '../async/mutex.ts';

/**
 * Path of a file with all certificates that this process trusts, for programs such as git, which trust only one file.
 * It is made when it is first needed, and removed when the process ends.
 */
export const caBundle = once((): string => {
  const { getCACertificates } = process.getBuiltinModule('node:tls');
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-ca-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const bundle = path.join(folder, 'all.pem');
  writeFileSync(bundle, `${getCACertificates('default').join('\n')}\n`, { mode: 0o600 });
  return bundle;
});
