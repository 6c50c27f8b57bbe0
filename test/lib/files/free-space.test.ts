import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { checkDisk } from '../../../src/operator/doctor/check-machine.ts';
import { freeSpace } from '../../../src/lib/files/free-space.ts';

test(
  'S15 a file system that can not tell its free space is not a full one',
  { skip: process.platform !== 'linux' },
  () => {
    assert.ok((freeSpace(tmpdir()) ?? -1) >= 0);
    // It has no blocks, as some file systems on the network say of themselves.
    assert.equal(freeSpace('/proc'), undefined);
    assert.equal(freeSpace('/nowhere-at-all'), undefined);
    const machine = { node: '24.0.0', now: 0, mostFiles: undefined, free: freeSpace };
    const { said, findings } = checkDisk(machine, { bot: { dataDir: '/proc', workspace: '/proc' } } as never);
    assert.deepEqual([said, findings], ['free space not known', []]);
  },
);
