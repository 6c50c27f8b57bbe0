import path from 'node:path';
import { createAudit } from '../../src/audit/create-audit.ts';
import type { AuditEvent } from '../../src/audit/audit-event.ts';
import type { Entry } from '../../src/core/entry.ts';
import { userContent } from '../../src/runs/user-content.ts';
import { openStore } from '../../src/store/open-store.ts';
import { makeMessage } from './make-message.ts';
import { quietLog } from './quiet-log.ts';

const day = 86_400_000;

/**
 * Plants a week of a busy bot into the data directory of a folder, as it would have been stored: messages of people in
 * direct messages and groups, each with a tool call, and for every tenth a skill, an approval or a refusal. The last one
 * is an hour ago.
 */
export async function plantWeek(
  folder: string,
  { messages, people = 40, groups = 5 }: Readonly<{ messages: number; people?: number; groups?: number }>,
): Promise<void> {
  const dataDir = path.join(folder, 'data');
  const store = await openStore(`sqlite:${path.join(dataDir, 'skillet.db')}`);
  const end = Date.now() - 3_600_000;
  const clock = { now: () => at, sleep: () => Promise.reject(new Error('not here')) };
  let at = end - 6.9 * day;
  const audit = createAudit({ dataDir, keyed: store.keyed, clock: clock, log: quietLog() });
  const step = (end - at) / messages;
  let events: Promise<void>[] = [];
  let entries: { transcript: string; entry: Entry }[] = [];

  async function flush(): Promise<void> {
    await store.commit({ entries });
    await Promise.all(events);
    [entries, events] = [[], []];
  }

  for (let n = 0; n < messages; n += 1) {
    at = Math.round(end - (messages - 1 - n) * step);
    const person = 1 + (n % people);
    const isGroup = n % 3 === 0;
    const conversation = { channel: 'telegram', chat: isGroup ? `-${100 + (n % groups)}` : String(person) };
    const room = `telegram:${conversation.chat}`;
    const sender = { id: `telegram:${person}`, name: `P${person}`, kind: 'person' } as const;
    const place = { sender: sender.id, conversation: room, chatType: isGroup ? 'group' : 'private' };
    const record = (event: AuditEvent): void => void events.push(audit.record(event));
    const refused = n % 10 === 9;
    if (refused)
      record({ ...place, sender: `telegram:9${person}`, event: 'message_refused', code: 'NOT_ALLOWED' });
    else {
      const text = `Question ${n}: ${'please look this up for me and say it in a few words. '.repeat(3)}`;
      const message = makeMessage({
        ...{ id: `${room}:${n}`, conversation, sender, text, chatType: isGroup ? 'group' : 'private' },
      });
      entries.push(
        {
          transcript: room,
          entry: {
            kind: 'user',
            item: message.id,
            sender: sender.id,
            content: userContent(message, { background: [] }),
            at,
          },
        },
        {
          transcript: room,
          entry: {
            ...{ kind: 'assistant', content: [{ type: 'text', text: text.repeat(3), citations: null }], at },
            ...{
              stopReason: 'end_turn',
              tokens: { input: 900, output: 80, cacheRead: 4_000, cacheWrite: 100 },
              model: 'm',
            },
          },
        },
      );
      const call = {
        ...place,
        ok: true,
        codes: [],
        durationMs: 5,
        call: `c${n}`,
        argumentsHash: '0'.repeat(64),
      };
      record({ ...call, event: 'tool_call', tool: 'recall', risk: 'safe', policy: 'allowed' });
      if (n % 10 === 1) {
        record({
          ...call,
          event: 'tool_call',
          tool: 'skills_run_script',
          skill: 'dice',
          risk: 'moderate',
          policy: 'allowed',
        });
        record({
          ...place,
          event: 'run',
          skill: 'dice',
          origin: 'bundled',
          status: 'ok',
          iterations: 2,
          durationMs: 9,
        });
      }
      if (n % 10 === 2)
        record({
          event: 'approval',
          id: `a${n}`,
          tool: 'bash',
          ...{ conversation: room, requester: sender.id, outcome: 'approved', by: 'telegram:1' },
        });
    }
    if (n % 200 === 199) await flush();
  }
  await flush();
  const date = new Date(end).toISOString().slice(0, 10);
  await store.commit({
    usage: [
      {
        ...{ day: date, sender: 'telegram:1', conversation: 'telegram:1', skill: '', model: 'default' },
        tokens: { input: 1_000_000, output: 100_000, cacheRead: 0, cacheWrite: 0 },
      },
    ],
  });
  await audit.settled();
  await store.close();
}

/** The config that such a week was answered by. */
export const busyConfig = `[bot]
owner = ["telegram:1"]
[access]
dm = "open"
groups_mode = "open"
group_users = ["*"]
[policy]
approvers = ["telegram:1"]
[models.default]
model = "claude-haiku-4-5"
price_in = 1
price_out = 5
`;
