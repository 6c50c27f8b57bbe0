import assert from 'node:assert/strict';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { shareWorkspace } from '../../src/operator/own-data-dir.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { removeFolder } from '../../src/lib/files/write-inside.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { quietLog } from '../support/quiet-log.ts';

test('Q9 T10 processes on one store share one workspace, whatever they call it; one with another is refused while they run', async (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'skillet-share-'));
  t.after(() => removeFolder(root));
  const at = (name: string): string => path.join(root, name);
  const clock = createManualClock();
  const store = await openStore('sqlite::memory:', { clock });
  const said: unknown[] = [];
  const stored = store.keyed('workspaces');
  const set = stored.set.bind(stored);
  stored.set = async (...given: Parameters<typeof set>) => {
    said.push(given[1]);
    return set(...given);
  };
  const join = (workspace: string) =>
    shareWorkspace(workspace, { store: { keyed: () => stored }, clock, log: quietLog() });

  const first = await join(at('one'));
  symlinkSync(at('one'), at('same'));
  const second = await join(at('same'));
  await assert.rejects(join(at('other')), (error: unknown) => {
    assert.ok(error instanceof OperatorError);
    assert.match(error.message, /another workspace \(.*\/one on |another workspace \(.*\/same on /);
    assert.match(error.message, /here: .*\/other on .*Set \[bot\] workspace to one folder/);
    return true;
  });
  await first.release();
  await assert.rejects(join(at('other')), OperatorError);
  const sofar = said.length;
  await clock.advance(30_000);
  assert.equal(said.length, sofar + 1, 'who still runs says so again');
  await second.release();
  await (await join(at('other'))).release();
});
