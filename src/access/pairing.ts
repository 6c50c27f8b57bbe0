import { createHash, randomBytes, randomInt } from 'node:crypto';
import type Keyv from 'keyv';
import type { MessageDenial } from './decide-message.ts';
import type { Users } from './users.ts';
import type { AuditEvent } from '../audit/audit-event.ts';
import type { AuditWriter } from '../audit/create-audit.ts';
import type { WriteCommand } from '../core/channel.ts';
import type { Conversation } from '../core/conversation.ts';
import type { Message } from '../core/message.ts';
import { fixed, sayIn } from '../core/texts/say.ts';
import { createMutex } from '../lib/async/mutex.ts';
import type { Clock } from '../lib/clock.ts';
import { inlineCode } from '../lib/text/text.ts';
import type { Replies } from '../replies/replies.ts';
import type { Store } from '../store/store.ts';

const claim = /^[/!]?(?:skill\s+)?[/!]?start\s+claim_([0-9a-f]{32})$/i;

export type PairingRequest = Readonly<{
  code: string;
  sender: string;
  name: string;
  language?: string;
  conversation: Conversation;
  expiresAt: number;
}>;

export type Pairing = Readonly<{
  /** Makes a pairing code, at most once an hour for a sender; undefined if the bot should not answer. */
  request(message: Message): Promise<PairingRequest | undefined>;
  /** Whether a stranger gets an answer: each sender once an hour, and all of one process together 30 times. */
  mayAnswer(sender: string): Promise<boolean>;
  pending(): Promise<readonly PairingRequest[]>;
  /** Pairs the person with this code; undefined if the code is not valid. `by` is the owner who approved. */
  approve(code: string, by?: string): Promise<PairingRequest | undefined>;
  deny(code: string, by?: string): Promise<PairingRequest | undefined>;
  /** Takes back a pairing. False if they were not paired. */
  revoke(sender: string): Promise<boolean>;
  /** Removes a person's open requests. False if there were none. */
  forget(sender: string): Promise<boolean>;
  /** Makes a token of 128 bits by which one person can become owner, within ten minutes. */
  newOwnerToken(): Promise<string>;
  claim(token: string, sender: string): Promise<boolean>;
}>;

const codeLetters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const hourMs = 3_600_000;
const ownerTokenMs = 600_000;
const mostPending = 3;
/** Limits answers to all strangers together in an hour, because each leaves a key in the store. */
const mostAnswered = 30;

/** Makes the pairing of strangers, and the first owner's claim. It keeps only ids and names of strangers (A10). */
export function createPairing(options: {
  stored: Keyv;
  users: Users;
  audit: AuditWriter;
  clock: Clock;
}): Pairing {
  const { stored, users, audit, clock } = options;
  const inTurn = createMutex();
  let answeredAt: readonly number[] = [];

  // Each request has a key of its own, so that only one process can take it (Q9).
  async function pending(): Promise<readonly PairingRequest[]> {
    const all: PairingRequest[] = [];
    for await (const [key, value] of stored.iterator()) {
      if (String(key).startsWith(requestKey(''))) all.push(value as PairingRequest);
    }
    return all.filter(({ expiresAt }) => expiresAt > clock.now()).sort((a, b) => a.expiresAt - b.expiresAt);
  }
  async function take(code: string): Promise<PairingRequest | undefined> {
    const key = requestKey(code.trim().toUpperCase());
    const found = await stored.get<PairingRequest>(key);
    if (found === undefined || !(await stored.delete(key)) || found.expiresAt <= clock.now())
      return undefined;
    return found;
  }
  async function decided(
    verdict: Extract<AuditEvent, { event: 'pairing' }>['verdict'],
    sender: string,
    by?: string,
  ): Promise<void> {
    await audit.record({ event: 'pairing', verdict, sender, by });
  }
  async function request({ sender, conversation }: Message): Promise<PairingRequest | undefined> {
    const here = (await pending()).filter((other) => other.conversation.channel === conversation.channel);
    if (here.length >= mostPending || !(await mayAnswer(sender.id))) return undefined;
    const expiresAt = clock.now() + hourMs;
    const made = {
      code: newCode(),
      sender: sender.id,
      name: sender.name,
      language: sender.language,
      conversation,
      expiresAt,
    };
    await stored.set(requestKey(made.code), made, hourMs);
    return made;
  }
  async function mayAnswer(sender: string): Promise<boolean> {
    const hourAgo = clock.now() - hourMs;
    answeredAt = answeredAt.filter((at) => at > hourAgo);
    if (answeredAt.length >= mostAnswered) return false;
    const answered = (await stored.get<number>(`answered:${sender}`)) ?? 0;
    if (answered > hourAgo) return false;
    answeredAt = [...answeredAt, clock.now()];
    await stored.set(`answered:${sender}`, clock.now(), hourMs);
    return true;
  }
  async function dropRequests(sender: string): Promise<boolean> {
    const asked = (await pending()).filter((one) => one.sender === sender);
    for (const { code } of asked) await stored.delete(requestKey(code));
    return asked.length > 0;
  }
  return {
    pending,
    request: (message) => inTurn(() => request(message)),
    mayAnswer: (sender) => inTurn(() => mayAnswer(sender)),
    async approve(code, by) {
      const found = await take(code);
      if (found === undefined) return undefined;
      await users.pair({ sender: found.sender, name: found.name, since: clock.now() });
      await decided('approved', found.sender, by);
      return found;
    },
    async deny(code, by) {
      const found = await take(code);
      if (found !== undefined) await decided('denied', found.sender, by);
      return found;
    },
    async revoke(sender) {
      const was = await users.unpair(sender);
      if (was) await decided('revoked', sender);
      return was;
    },
    forget: dropRequests,
    async newOwnerToken() {
      const token = randomBytes(16).toString('hex');
      await stored.set(claimKey(token), clock.now() + ownerTokenMs, ownerTokenMs);
      return token;
    },
    async claim(token, sender) {
      const key = claimKey(token);
      const expiresAt = await stored.get<number>(key);
      if (expiresAt === undefined || expiresAt <= clock.now() || !(await stored.delete(key))) return false;
      await users.addOwner(sender);
      await dropRequests(sender);
      await decided('owner', sender);
      return true;
    },
  };
}

function requestKey(code: string): string {
  return `request:${code}`;
}

/** Tokens are hashed, so that the time of a lookup reveals nothing about them. */
function claimKey(token: string): string {
  return `claim:${createHash('sha256').update(token).digest('hex')}`;
}

function newCode(): string {
  return Array.from({ length: 8 }, () => codeLetters[randomInt(codeLetters.length)]).join('');
}

/**
 * Reads the owner's token from `/start claim_…` (A10), or from `/skill start claim_…`, `!start claim_…` or `start
 * claim_…` on platforms where `/start` is no command. Undefined if there is none.
 */
export function claimedToken({ command, text }: Pick<Message, 'command' | 'text'>): string | undefined {
  const asked = command === undefined ? text : `/${command.name} ${command.args}`;
  return claim.exec(asked.trim())?.[1]?.toLowerCase();
}

/** Handles people whom the bot does not know. Their text never reaches a model (A10). */
export type Strangers = Readonly<{
  /** Handles an attempt to become owner. True if the message was one, whether it succeeded or not. */
  claims(message: Message): Promise<boolean>;
  /** Answers a stranger, unless they got an answer in the last hour. */
  meet(message: Message, code: MessageDenial): Promise<void>;
}>;

export function createStrangers(options: {
  pairing: Pairing;
  replies: Replies;
  writeCommand: WriteCommand;
}): Strangers {
  const { pairing, replies, writeCommand } = options;
  return {
    async claims(message) {
      const { chatType, sender } = message;
      const token = claimedToken(message);
      if (token === undefined || chatType !== 'private' || sender.kind !== 'person') return false;
      const done = await pairing.claim(token, sender.id);
      if (!done && !(await pairing.mayAnswer(sender.id))) return true;
      const say = sayIn(sender.language);
      await replies.answer(
        message,
        done
          ? say`You are the owner now (${inlineCode(sender.id)}). Put ${inlineCode(`owner = ["${sender.id}"]`)} under ${inlineCode('[bot]')} in ${inlineCode('config.toml')} to keep that. ${writeCommand(message.conversation, 'help')} tells you what I can do.`
          : say`This token is invalid or has expired. Restart the bot to get a new one.`,
      );
      return true;
    },
    async meet(message, code) {
      if (message.chatType !== 'private') return;
      if (code === 'NOT_ALLOWED') return introduce(message);
      if (code !== 'STRANGER') return;
      const request = await pairing.request(message);
      if (request === undefined) return;
      await replies.answer(
        message,
        sayIn(
          message.sender.language,
        )`I don't know you yet. Your pairing code is ${inlineCode(request.code)}, valid for an hour. Give it to my operator, who can approve you.`,
      );
      await replies.tellOwners(
        `pair:${request.code}`,
        (say) =>
          say`${inlineCode(request.name)} asks to use this bot: id ${inlineCode(request.sender)}. Code ${inlineCode(request.code)}, valid for an hour.`,
        {
          buttons: [
            { label: fixed`Approve`, action: `pair:approve:${request.code}` },
            { label: fixed`Deny`, action: `pair:deny:${request.code}` },
          ],
        },
      );
    },
  };

  async function introduce(message: Message): Promise<void> {
    if (!(await pairing.mayAnswer(message.sender.id))) return;
    await replies.answer(
      message,
      sayIn(
        message.sender.language,
      )`I only talk to people my operator has listed. Your id is ${inlineCode(message.sender.id)}.`,
    );
  }
}

/** Welcomes a person who was approved. The message waits in the outbox until a bot runs. */
export function createWelcome(store: Store): (request: PairingRequest) => Promise<void> {
  return ({ code, conversation, language }) => {
    const markdown = sayIn(language)`You’re approved. Write to me, or ask me for help.`;
    return store.commit({ outbox: [{ key: `welcome:${code}`, conversation, part: { markdown } }] });
  };
}
