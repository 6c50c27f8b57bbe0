import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { OperatorError } from '../../src/core/errors.ts';
import type { PlaceOutside } from '../../src/operator/archive/places-outside.ts';
import { restoreArchive } from '../../src/operator/archive/restore-archive.ts';
import { makeArchive, type MadeArchive } from './make-archive.ts';

/** A folder with `bot`, where archives go, and everything that is in it besides the archive. */
export function stageRestore(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'skillet-restore-'));
  const archives = mkdtempSync(path.join(tmpdir(), 'skillet-archive-'));
  t.after(() => [folder, archives].forEach((one) => rmSync(one, { recursive: true })));
  const at = (...names: readonly string[]) => path.join(folder, ...names);
  const make = (made: MadeArchive) => makeArchive(path.join(archives, 'one.tar'), made);
  return {
    at,
    make,
    names: () => readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted(),
    /** Makes files and their folders. A name that ends with `/` makes a folder, a text that begins with `→` a link. */
    write(files: Readonly<Record<string, string>>): void {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(path.dirname(at(`${name}x`)), { recursive: true });
        if (name.endsWith('/')) continue;
        if (text.startsWith('→')) symlinkSync(text.slice(1), at(name));
        else writeFileSync(at(name), text);
      }
    },
    async restore(made: MadeArchive, env: Readonly<Record<string, string>> = {}) {
      return restoreArchive(await make(made), at('bot'), { env, home: at('home') });
    },
    /** Restores with `--elsewhere`. The places that it would have refused. */
    async outside(made: MadeArchive): Promise<readonly PlaceOutside[]> {
      const told: PlaceOutside[] = [];
      const elsewhere = (places: readonly PlaceOutside[]) => {
        assert.ok(places.length > 0);
        told.push(...places);
      };
      await restoreArchive(await make(made), at('bot'), { env: {}, home: at('home'), elsewhere });
      return told;
    },
  };
}

export async function refused(restoring: Promise<unknown>, why: RegExp, message?: string): Promise<void> {
  await assert.rejects(
    restoring,
    (error) => {
      assert.ok(error instanceof OperatorError, `${message}: ${String(error)}`);
      assert.match(error.message, why, message);
      assert.match(error.message, /^Nothing was restored|can't be restored|is no backup|is damaged/, message);
      return true;
    },
    message,
  );
}
