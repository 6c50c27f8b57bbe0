import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { cleanAudit, cleanStore } from '../../src/bot/redacting-doors.ts';
import type { AuditEvent } from '../../src/audit/audit-event.ts';
import type { Audit } from '../../src/audit/create-audit.ts';
import { noTokens } from '../../src/core/model.ts';
import type { Entry } from '../../src/core/entry.ts';
import { createRedaction } from '../../src/lib/redaction/redact.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from '../support/make-message.ts';

const secret = 'hunter2-hunter2';
const shown = '[redacted KEY]';
const redaction = createRedaction([{ name: 'KEY', value: secret }]);

test('S2 U3 nothing that is written to a store holds a secret: messages, edits, work, faults, transcripts, parts, answers', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'skillet-clean-'));
  const bare = await openStore(`sqlite:${path.join(folder, 'skillet.db')}`);
  t.after(async () => {
    await bare.close();
    await rm(folder, { recursive: true, force: true });
  });
  const store = cleanStore(bare, () => redaction);
  /** What everybody can read in the folder of the store. */
  const written = async (): Promise<string> => {
    const files = await readdir(folder);
    const contents = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'latin1')));
    return contents.join('\n');
  };
  const holdsNone = async (what: string, holds = shown): Promise<void> => {
    const all = await written();
    assert.ok(!all.includes(secret), what);
    assert.ok(all.includes(holds), `${what}: nothing was written`);
  };
  const now = Date.now();
  const { conversation } = makeMessage();
  const quote = { name: 'Ann', text: `quoted ${secret}`, own: false };
  const said = makeMessage({
    text: `said ${secret}`,
    command: { name: 'note', args: `args ${secret}` },
    replyTo: { ...quote, attachments: [{ kind: 'photo', name: `carried ${secret}` }] },
    shared: [{ ...quote, text: `shared ${secret}` }],
    attachments: [{ kind: 'document', name: `file ${secret}` }],
  });
  await store.inbox.accept(said, { now });
  for (const what of ['said', 'args', 'quoted', 'shared', 'file', 'carried'])
    await holdsNone(what, `${what} ${shown}`);
  assert.equal(await store.inbox.replace({ ...said, text: `edited ${secret}` }), 'replaced');
  await holdsNone('an edit', `edited ${shown}`);
  await store.groupContext.add(makeMessage({ id: 'telegram:42:2', text: `overheard ${secret}` }), now);
  await holdsNone('what was overheard', `overheard ${shown}`);

  const run = {
    kind: 'run',
    id: 'r1',
    skill: 'note',
    tool: 'use_skill',
    input: { text: `input ${secret}` },
    by: 'model',
    parent: 'telegram:42',
    toolUseId: 'c',
  } as const;
  const work = (id: string, task: NonNullable<ReturnType<typeof makeMessage>['task']>) => ({
    queue: `telegram:42~${id}`,
    message: makeMessage({ id, text: '', task }),
  });
  await store.commit({ work: [work('w1', run)] });
  await holdsNone('work that a step gives', `input ${shown}`);
  const ended = { kind: 'result', id: 'r1', skill: 'note', result: `result ${secret}` } as const;
  await store.addWork(work('w2', ended), () => undefined);
  await holdsNone('work that is added', `result ${shown}`);

  await store.inbox.take('telegram:42', now);
  await store.inbox.fail(said.id, `failed ${secret}`, now);
  await holdsNone('a fault', `failed ${shown}`);
  await store.inbox.postpone(said.id, `postponed ${secret}`, now);
  await holdsNone('a fault that passes', `postponed ${shown}`);

  const entries: readonly Entry[] = [
    {
      kind: 'user',
      content: [
        { type: 'text', text: `user ${secret}` },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: `document ${secret}` } },
      ],
      context: `told ${secret}`,
      asked: [{ skill: 'note', text: `asked ${secret}` }],
      at: 1,
    },
    {
      kind: 'assistant',
      content: [{ type: 'text', text: `assistant ${secret}`, citations: null }],
      stopReason: 'end_turn',
      tokens: noTokens,
      model: 'm',
      at: 2,
    },
    { kind: 'tool_result', toolUseId: 'c', content: `tool ${secret}`, isError: false, at: 3 },
    { kind: 'notice', text: `notice ${secret}`, at: 4 },
    {
      kind: 'summary',
      text: `summary ${secret}`,
      own: { sender: 'telegram:42', text: `own ${secret}` },
      kept: 0,
      tokens: noTokens,
      at: 5,
    },
  ];
  await store.commit({ entries: entries.map((entry) => ({ transcript: 'telegram:42', entry })) });
  for (const what of ['user', 'document', 'told', 'asked', 'assistant', 'tool', 'notice', 'summary', 'own'])
    await holdsNone(what, `${what} ${shown}`);

  const part = { markdown: `part ${secret}`, buttons: [{ label: `label ${secret}`, action: 'a' }] };
  await store.commit({ outbox: [{ key: 'p', conversation, part }] });
  for (const what of ['part', 'label']) await holdsNone(what, `${what} ${shown}`);
  await store.outbox.retry('p', `tried ${secret}`, now);
  await holdsNone('a part that was not sent', `tried ${shown}`);
  await store.outbox.dead('p', `dead ${secret}`);
  await holdsNone('a part that was given up', `dead ${shown}`);

  const ask = {
    id: 'q1',
    kind: 'question',
    conversation,
    requester: 'telegram:42',
    transcript: 'telegram:42',
    toolUseId: 'c',
    payload: { text: `question ${secret}` },
    askedAt: now,
    expiresAt: now + 60_000,
  } as const;
  await store.pendingRequests.add(ask);
  await holdsNone('a question', `question ${shown}`);
  await store.pendingRequests.answer('q1', { by: 'telegram:42', value: `answer ${secret}`, at: now });
  await holdsNone('an answer', `answer ${shown}`);
});

test('S2 U13 no secret is in what a process tells others of its progress, nor in the audit', async (t) => {
  const bare = await openStore('sqlite::memory:');
  t.after(() => bare.close());
  const store = cleanStore(bare, () => redaction);
  const heard: string[] = [];
  store.signals.on('progress', (text) => void heard.push(text));
  await store.signals.send('progress', `r1 ${secret}`);
  assert.deepEqual(heard, [`r1 ${shown}`]);
  const recorded: AuditEvent[] = [];
  const audit = cleanAudit({ record: async (event) => void recorded.push(event) } as Audit, () => redaction);
  await audit.record({ event: 'skills_installed', source: secret, skills: [] });
  assert.deepEqual(recorded, [{ event: 'skills_installed', source: shown, skills: [] }]);
});
