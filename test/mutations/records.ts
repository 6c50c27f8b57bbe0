import { changesOf } from './changes-of.ts';

const audit = 'app/audit/audit.test.ts';

/** The sealed record (L6), files (T13), locks and fences (Q9). */
export const recordMutations = [
  ...changesOf('app/audit/seal.ts', audit, [
    ['a line is sealed without the one before', '.update(`${before}\\n${body}`)', '.update(`\\n${body}`)'],
    [
      'any seal is right',
      'return timingSafeEqual(Buffer.from(macOf(key, before, body)), Buffer.from(mac));',
      'return true;',
    ],
  ]),
  ...changesOf('app/audit/verify-audit.ts', audit, [
    [
      'a chain that was written anew passes',
      'head.mac !== kept.mac) rewritten = true;',
      'head.mac !== kept.mac) rewritten = false;',
    ],
    ['lines that are gone pass', 'head.seq < kept.seq)', 'false)'],
    ['lines gone with their key pass', 'if (lost > 0)', 'if (false)'],
    ['lines that were changed pass', 'if (!unsealed.ok) problems.push', 'if (false) problems.push'],
  ]),
  ...changesOf('app/audit/create-audit.ts', audit, [
    ['heads of other keys are not counted', 'lines += other.seq;', 'lines += 0;'],
    ['the head is not stored', 'await stored.set(from.name, { ...head, place });', ''],
    ['files are open to others', '{ mode: 0o600 });', '{ mode: 0o644 });'],
  ]),
  ...changesOf('files/enter-folder.ts', 'files/folders.test.ts', [
    ['a link on the way is followed', 'standsFor | O_DIRECTORY | O_NOFOLLOW', 'standsFor | O_DIRECTORY'],
    ['.. is a name', "name === '.' || name === '..' ||", "name === '.' ||"],
    ['a slash is part of a name', '/[/\\0]/.test(name)', 'false'],
    ['off Linux a link on the way is followed', '!lstatSync(self).isDirectory()', 'false'],
  ]),
  ...changesOf('files/open-inside.ts', 'files/folders.test.ts', [
    ['a link is opened', 'standsFor | constants.O_NOFOLLOW', 'standsFor'],
    [
      'a file with other names is opened',
      'stats.isFile() && (!alone || stats.nlink === 1)',
      'stats.isFile()',
    ],
    ['a pipe is opened', 'return stats.isFile() && (', 'return ('],
  ]),
  ...changesOf('stores/embedded/lock-owner.ts', 'crash/store-owner.test.ts', [
    ['two processes own a store', "lock.exec('BEGIN EXCLUSIVE');", "lock.exec('BEGIN');"],
  ]),
  ...changesOf('stores/postgres/write-step.ts', 'stores/postgres-durable.test.ts', [
    ['a step is not on the disk when it is committed', '    durable,\n    locks', '    false,\n    locks'],
  ]),
  ...changesOf('stores/postgres/create-commit.ts', 'stores/postgres-durable.test.ts', [
    ['what a tool did may be forgotten', "kind === 'notice');", "kind !== 'mark');"],
    ['what is done outside a lane may be forgotten', 'leases.active() && isRetraced', 'isRetraced'],
  ]),
  ...changesOf('stores/postgres/lease.ts', 'stores/lease.test.ts', [
    [
      'a lost lane is released',
      "if (state.now === 'held') state.now = 'released';",
      "state.now = 'released';",
    ],
    ['a lost lane keeps running', '      lease?.lose();\n      onLost();', '      onLost();'],
    ['an answer that came too late counts', 'now() - asked <= trustedMs', 'true'],
    [
      'a lane that was lost is not aborted',
      "losing.abort(new DOMException('another process may have the lane', 'AbortError'));",
      '',
    ],
    ['a lane that was released is fenced', "lease?.state() === 'released' ? undefined : lease", 'lease'],
    ['a refused write counts as written', 'if (answer === lost) {', 'if (false) {'],
  ]),
];
