import type { IncomingMessage } from 'node:http';
import type Keyv from 'keyv';
import type { ChatMigrations } from '../../access/chat-migrations.ts';
import type { Users } from '../../access/users.ts';
import type { AuditWriter } from '../../audit/create-audit.ts';
import type { Config } from '../../config/complete-config.ts';
import { conversationOf } from '../../config/hook-sections.ts';
import type { Channel } from '../../core/channel.ts';
import { conversationKey } from '../../core/conversation.ts';
import type { Message } from '../../core/message.ts';
import type { HookAnswer, HookOutcome } from '../../core/hook-answer.ts';
import type { Meter } from '../../core/meter.ts';
import { createThrottle } from '../../lib/async/mutex.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { inlineCode } from '../../lib/text/text.ts';
import type { Replies } from '../../replies/replies.ts';
import type { Store } from '../../store/store.ts';
import { readEvent, type Event } from './read-event.ts';
import { hashOf, windowMs } from './verify-request.ts';

export type Hook = Config['hooks'][number];

/** Answers requests to `POST /hooks/NAME`, one event each (N7). Never rejects. */
export type Hooks = Readonly<{
  receive(name: string, request: IncomingMessage): Promise<HookAnswer>;
  /** Begins to accept events. Before that, and after `stop`, senders are told to try again. */
  start(): void;
  /** Accepts no more events, and resolves once those that arrived are stored. */
  stop(): Promise<void>;
}>;

export type HookDeps = Readonly<{
  store: Store;
  audit: AuditWriter;
  migrations: ChatMigrations;
  meter: Meter;
  clock: Clock;
  log: Log;
  hooks(): readonly Hook[];
  /** Hashes of bodies that came without a delivery id, to recognise repeats. */
  bodies: Keyv;
  /** `known` resolves once the members of user groups are known (A13). */
  users: Users & Readonly<{ known(): Promise<void> }>;
  channels: ReadonlyMap<string, Channel>;
  replies: Replies;
}>;

/** How many events of a hook are accepted in a minute, over all processes. */
const mostEvents = 60;
const minuteMs = 60_000;
const auditEveryMs = 60 * minuteMs;

export function createHooks(deps: HookDeps): Hooks {
  const { meter, clock, log } = deps;
  const isDue = createThrottle(auditEveryMs, clock);
  const underWay = new Set<Promise<unknown>>();
  let isOpen = false;

  async function answer(hook: Hook | undefined, request: IncomingMessage): Promise<HookAnswer> {
    if (!isOpen) return later('failed', 'the bot is starting or stopping');
    if (hook === undefined) return { status: 404, outcome: 'unknown', body: 'there is no such hook' };
    const read = await readEvent(request, hook, clock.now());
    return read.ok ? takeEvent(read.event, hook, deps) : read.answer;
  }

  return {
    async receive(name, request) {
      const hook = deps.hooks().find((each) => each.name === name);
      const work = answer(hook, request).catch((error: unknown) => {
        log.error({ err: error, hook: hook?.name }, 'an event of a hook could not be stored');
        return later('failed', 'it could not be stored');
      });
      underWay.add(work);
      const answered = await work.finally(() => underWay.delete(work));
      const { outcome } = answered;
      meter.count('hooks', { hook: hook?.name ?? '', outcome });
      if (hook !== undefined && (outcome === 'accepted' || isDue(`${hook.name} ${outcome}`)))
        void deps.audit.record({
          event: 'hook',
          hook: hook.name,
          outcome,
          sender: hook.as,
          conversation: conversationKey(conversationOf(hook.conversation)),
        });
      return answered;
    },
    start() {
      isOpen = true;
    },
    async stop() {
      isOpen = false;
      await Promise.all(underWay);
    },
  };
}

/** Judges an event like a message of its person in that chat, and stores it before it is answered with 202. */
async function takeEvent(event: Event, hook: Hook, deps: HookDeps): Promise<HookAnswer> {
  const { store, clock } = deps;
  const message = await messageOf(event, hook, deps);
  if (typeof message === 'string') return later('failed', message);
  if ('denied' in message) return refuse(message.denied, hook, deps);
  const limit = { key: `hook ${hook.name}`, most: mostEvents, ms: minuteMs };
  const full = await store.countUse(message.id, [limit]);
  if (full !== undefined)
    return limited(`more than ${mostEvents} events a minute`, full.freeAt - clock.now());
  switch (await store.inbox.accept(message, { now: clock.now() })) {
    case 'duplicate':
      return { status: 200, outcome: 'repeated', body: 'it was accepted before' };
    case 'queue_full':
      return limited('too many messages wait in that conversation', minuteMs);
    default:
      return { status: 202, outcome: 'accepted', body: 'accepted' };
  }
}

/** The event as a message. A text says why that is not possible now. */
async function messageOf(
  event: Event,
  { name, as, prompt, conversation: place }: Hook,
  { migrations, clock, bodies, users, channels }: HookDeps,
): Promise<Message | Readonly<{ denied: string }> | string> {
  const conversation = await migrations.current(conversationOf(place));
  const channel = channels.get(conversation.channel);
  if (channel === undefined) return `the bot has no ${conversation.channel}`;
  const { chatType, external, person } = await channel.lookUpChat(conversation);
  if (chatType === 'unknown') return 'its conversation could not be looked up';
  if (chatType === 'private' && person !== as)
    return { denied: `${place} is a direct message of somebody else than ${as}` };
  const speaker = {
    id: as,
    name: `hook ${name}`,
    kind: 'person',
    language: await users.languageOf(as),
  } as const;
  const now = clock.now();
  const id = `hook:${name}:${event.delivery ?? (await deliveryOf(event, { name, bodies, now }))}`;
  const message: Message = {
    id,
    conversation,
    chatType,
    external,
    sender: speaker,
    text: '',
    addressed: true,
    attachments: [],
    shared: [{ name: `hook ${name}`, text: event.text === '' ? '(empty)' : event.text, own: false }],
    task: { kind: 'hook', id, name, prompt },
    sentAt: now,
  };
  await users.known();
  const decision = await users.decide(message);
  return decision.allowed ? message : { denied: decision.reason };
}

/** The delivery id of an event without one. The same body within the window is a repeat. */
async function deliveryOf(
  { body }: Event,
  { name, bodies, now }: Readonly<{ name: string; bodies: Keyv; now: number }>,
): Promise<string> {
  const key = `${name} ${hashOf(body)}`;
  const first = await bodies.get<string>(key);
  if (first !== undefined) return first;
  const delivery = `body:${hashOf(body)}:${Math.floor(now / windowMs)}`;
  await bodies.set(key, delivery, windowMs);
  return delivery;
}

async function refuse(why: string, hook: Hook, { log, replies }: HookDeps): Promise<HookAnswer> {
  const { name, as, conversation } = hook;
  log.info({ hook: name, why }, 'an event of a hook was not admitted');
  await replies.tellOwners(
    `hook:${name}:${as}:${conversation}`,
    (say) =>
      say`I refuse events of the hook ${inlineCode(name)}: ${inlineCode(as)} may not talk to me in ${inlineCode(conversation)}. To change that, correct [[hooks]] or [access] in my config.`,
  );
  return { status: 403, outcome: 'denied', body: 'the person of this hook may not talk to the bot there' };
}

function later(outcome: HookOutcome, body: string): HookAnswer {
  return { status: 503, outcome, body, retryAfter: 30 };
}

function limited(body: string, ms: number): HookAnswer {
  return { status: 429, outcome: 'limited', body, retryAfter: Math.max(1, Math.ceil(ms / 1_000)) };
}
