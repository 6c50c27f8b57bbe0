import { changesOf } from './changes-of.ts';

/** Files (T13), locks and fences (Q9). */
export const recordMutations = [
  ...changesOf('lib/files/open-inside.ts', 'lib/folders.test.ts', [
    ['a link on the way is followed', 'standsFor | O_DIRECTORY | O_NOFOLLOW', 'standsFor | O_DIRECTORY'],
    ['.. is a name', "name === '.' || name === '..' ||", "name === '.' ||"],
    ['a slash is part of a name', '/[/\\0]/.test(name)', 'false'],
    ['off Linux a link on the way is followed', '!lstatSync(self).isDirectory()', 'false'],
  ]),
  ...changesOf('lib/files/open-inside.ts', 'lib/folders.test.ts', [
    ['a link is opened', 'standsFor | constants.O_NOFOLLOW', 'standsFor'],
    [
      'a file with other names is opened',
      'stats.isFile() && (!alone || stats.nlink === 1)',
      'stats.isFile()',
    ],
    ['a pipe is opened', 'return stats.isFile() && (', 'return ('],
  ]),
  ...changesOf('operator/own-data-dir.ts', 'lib/changeable-by-others.test.ts', [
    [
      'a replaced data directory is well',
      'if (dev !== was.dev || ino !== was.ino) return gone(dataDir);',
      '',
    ],
  ]),
  ...changesOf('channels/terminal/control.ts', 'lib/changeable-by-others.test.ts', [
    ['any control socket is trusted', 'if (problem !== undefined)', 'if (false)'],
  ]),
  ...changesOf('lib/files/changeable-by-others.js', 'lib/changeable-by-others.test.ts', [
    [
      'a folder for everybody is private',
      '(mode & others) === 0 && isPrivate(gid, us)',
      'isPrivate(gid, us)',
    ],
    [
      'what lies in a folder of others counts alone',
      'if (at === path.dirname(at)) return undefined;',
      'return undefined;',
    ],
    ['a group with other members is private', " && ['', name].includes(members)", ''],
    ['a group that two users begin in is private', 'users.length !== 1 || ', ''],
    ["somebody else's group is private", 'uid === String(us) && ', ''],
  ]),
  ...changesOf('operator/check-start.ts', 'cli/config-check.test.ts', [
    ['nobody looks who may write the config', '    ...checkWriters(config),\n', ''],
  ]),
  ...changesOf('cli/compile-cache.js', 'lib/changeable-by-others.test.ts', [
    [
      'any NODE_COMPILE_CACHE is trusted',
      'if (problem === undefined) return undefined;',
      'return undefined;',
    ],
  ]),
  ...changesOf('store/sqlite/lock-owner.ts', 'crash/store-owner.test.ts', [
    ['two processes own a store', "lock.exec('BEGIN EXCLUSIVE');", "lock.exec('BEGIN');"],
  ]),
  ...changesOf('store/sqlite/lock-owner.ts', 'store/lost-file.test.ts', [
    ['a lock that was open to others stays so', 'chmodSync(`${file}.lock`, 0o600);', ''],
  ]),
  ...changesOf('operator/check-start.ts', 'cli/config-check.test.ts', [
    [
      'secrets that others may read are not told',
      '(stats.mode & (stats.uid === us ? 0o044 : 0o004)) !== 0',
      'stats.mode === 0',
    ],
    ['secrets that the group may read are not told', 'stats.uid === us ? 0o044 : 0o004', '0o004'],
  ]),
  ...changesOf('cli/open-config.ts', 'cli/operator-without-secrets.test.ts', [
    ['another store is opened where its address is missing', 'mayLack: isSecretKey', 'mayLack: () => true'],
    ['a command prints secrets where others are missing', '...secretsOfConfig(config), ', ''],
    ['a bot that does not run is taken for one', 'isRunning ? loose', 'loose.ok ? loose'],
  ]),
  ...changesOf('config/parse-config.ts', 'config/parse-config.test.ts', [
    ['a missing value shifts the secrets behind it', ' || isListed(path)', ''],
  ]),
  ...changesOf('operator/own-data-dir.ts', 'lib/changeable-by-others.test.ts', [
    ['others may look into the data directory', '(mode & 0o077) !== 0', '(mode & 0o002) !== 0'],
  ]),
  ...changesOf('store/postgres/create-commit.ts', 'store/postgres-durable.test.ts', [
    [
      'a step is not on the disk when it is committed',
      '      durable,\n      locks',
      '      false,\n      locks',
    ],
  ]),
  ...changesOf('store/postgres/create-commit.ts', 'store/postgres-durable.test.ts', [
    ['what a tool did may be forgotten', "kind === 'notice');", "kind !== 'mark');"],
    ['what is done outside a queue may be forgotten', 'leases.active() && mayBeLostInCrash', 'isRetraced'],
  ]),
  ...changesOf('store/postgres/fair-start.ts', 'store/postgres-durable.test.ts', [
    [
      'what was accepted is not on the disk',
      "    PERFORM set_config('synchronous_commit', 'on', true);\n    PERFORM pg_advisory_xact_lock(lock) FROM unnest(locks) AS lock;\n    FOR i IN 1..cardinality(keys)",
      '    PERFORM pg_advisory_xact_lock(lock) FROM unnest(locks) AS lock;\n    FOR i IN 1..cardinality(keys)',
    ],
  ]),
  ...changesOf('store/postgres/queue-functions.ts', 'store/postgres-durable.test.ts', [
    [
      'that a part is sent is not on the disk',
      "    PERFORM set_config('synchronous_commit', 'on', true);\n    FOR i IN 1..cardinality(keys)",
      '    FOR i IN 1..cardinality(keys)',
    ],
    [
      'durable steps are not',
      "  BEGIN\n    IF durable THEN PERFORM set_config('synchronous_commit', 'on', true); END IF;\n    -- Sorted",
      '  BEGIN\n    -- Sorted',
    ],
    [
      'a claim of an earlier try is good',
      ' AND retry_count = attempt FOR KEY SHARE',
      ' FOR KEY SHARE',
      { test: 'store/postgres-fences.test.ts' },
    ],
    [
      'a queue is held by who let it go',
      "id = job AND state = 'active' AND retry_count = attempt",
      'id = job AND retry_count = attempt',
      { test: 'store/postgres-fences.test.ts' },
    ],
    [
      'a queue is held though the server forgot it',
      'RETURN FOUND AND EXISTS (SELECT 1 FROM skillet.epoch WHERE id = of_epoch);',
      'RETURN FOUND;',
      { test: 'store/postgres-fences.test.ts' },
    ],
    [
      'a part is sent by who lost the conversation',
      'IF held[i] THEN\n        UPDATE skillet.outbox',
      'IF true THEN\n        UPDATE skillet.outbox',
      { test: 'store/postgres-fences.test.ts' },
    ],
    [
      'entries are written by who lost the queue',
      'AS new (step, transcript, kind, entry, place)\n        WHERE held[new.step] ORDER',
      'AS new (step, transcript, kind, entry, place)\n        ORDER',
      { test: 'store/postgres-fences.test.ts' },
    ],
    [
      'an item is finished by who lost the queue',
      'CONTINUE WHEN done[i] IS NULL OR NOT held[i];',
      'CONTINUE WHEN done[i] IS NULL;',
      { test: 'store/postgres-fences.test.ts' },
    ],
    [
      'parts are written by who lost the queue',
      'CONTINUE WHEN NOT held[part_of[i]];',
      '',
      { test: 'store/postgres-fences.test.ts' },
    ],
    [
      'an item is given to who lost the queue',
      '      IF NOT held THEN\n        RETURN NEXT;\n        CONTINUE;\n      END IF;\n',
      '',
      { test: 'store/postgres-fences.test.ts' },
    ],
  ]),
  ...changesOf('store/postgres/open-database.ts', 'store/postgres-outage.test.ts', [
    ['a session waits for ever', ', query_timeout: dedicatedMs', ''],
  ]),
  ...changesOf('store/postgres/create-heartbeat.ts', 'store/heartbeat.test.ts', [
    ['a queue waits for a tick', '      touchIfDue();\n    },', '    },'],
    [
      'a queue the database gave away goes on',
      'if (lost.has(lease.claim)) lose(lease);',
      'if (false) lose(lease);',
    ],
    ['a silent database loses no queue', 'now() - at > trustedMs', 'false'],
  ]),
  ...changesOf('store/postgres/lease.ts', 'store/lease.test.ts', [
    [
      'a lost queue is released',
      "if (state.now === 'held') state.now = 'released';",
      "state.now = 'released';",
    ],
    ['a lost queue keeps running', '      lease?.lose();\n      onLost();', '      onLost();'],
    ['an answer that came too late counts', 'now() - asked <= trustedMs', 'true'],
    [
      'a queue that was lost is not aborted',
      "losing.abort(new DOMException('another process may have the queue', 'AbortError'));",
      '',
    ],
    ['a queue that was released is fenced', "lease?.state() === 'released' ? undefined : lease", 'lease'],
    ['a refused write counts as written', 'if (answer === lost) {', 'if (false) {'],
  ]),
  ...changesOf('store/postgres/open-database.ts', 'store/postgres-failover.test.ts', [
    [
      'a check waits for a standby as long as any call',
      "{ text: 'COMMIT', query_timeout: withinMs + graceMs }",
      "{ text: 'COMMIT', query_timeout: statementMs + graceMs }",
    ],
  ]),
  ...changesOf('store/sqlite/schema.ts', 'store/embedded-search.test.ts', [
    [
      'the index of words removes what it never had',
      'WHEN old.seq <= (SELECT up_to FROM said_indexed WHERE one = 1) BEGIN',
      'BEGIN',
    ],
  ]),
  ...changesOf('store/sqlite/search-said.ts', 'store/embedded-search.test.ts', [
    ['a search forgets what it put into the index', 'COALESCE((SELECT MAX(seq) FROM said), up_to)', 'up_to'],
  ]),
  ...changesOf('store/newer-row.ts', 'store/postgres-versions.test.ts', [
    ['an older version leaves out what it does not know', 'if (!behind) return read;', 'return read;'],
  ]),
  ...changesOf('store/inbox.ts', 'store/postgres-versions.test.ts', [
    [
      'an older version keeps what it can not read',
      'if (error instanceof NewerRow) await untake(row.key, row.taken_at);',
      '',
    ],
  ]),
  ...changesOf('store/postgres/running.ts', 'store/postgres-versions.test.ts', [
    ['a removal does not wait for older processes', 'if (rows.length === 0) return;', 'return;'],
  ]),
  ...changesOf('store/postgres/require-sessions.ts', 'store/postgres-poolers.test.ts', [
    [
      'a pooler that shares sessions is taken for a server',
      "if ('processID' in first && first.processID === ours) return;",
      'return;',
    ],
  ]),
];
