import { randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type Keyv from 'keyv';
import type { Clock } from '../core/clock.ts';
import type { Conversation } from '../core/conversation.ts';
import { createInTurn } from '../core/in-turn.ts';
import type { Message } from '../core/message.ts';
import type { People } from './people.ts';

/** A stranger's request to be let in (A10). */
export type PairingRequest = Readonly<{
  code: string;
  sender: string;
  name: string;
  conversation: Conversation;
  expiresAt: number;
}>;

export type Pairing = Readonly<{
  /** A code for this stranger, once an hour; `undefined` when nothing is to be answered. */
  request(message: Message): Promise<PairingRequest | undefined>;
  /** True at most once an hour for each sender: keeps answers to people outside rare. */
  mayAnswer(sender: string): Promise<boolean>;
  pending(): Promise<readonly PairingRequest[]>;
  /** Pairs the person behind a code; `undefined` when no such code is valid. */
  approve(code: string): Promise<PairingRequest | undefined>;
  deny(code: string): Promise<PairingRequest | undefined>;
  /** A token that makes whoever sends it the owner: 128 bits, once, ten minutes. Replaces an earlier one. */
  newOwnerToken(): Promise<string>;
  /** Makes the sender the owner if `token` is the valid one. */
  claim(token: string, sender: string): Promise<boolean>;
}>;

const codeLetters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const hourMs = 3_600_000;
const ownerTokenMs = 600_000;
const mostPending = 3;

/** Pairing by code and the claim of the first owner. Nothing a stranger wrote is kept but id and name (A10). */
export function createPairing(options: { stored: Keyv; people: People; clock: Clock }): Pairing {
  const { stored, people, clock } = options;
  const inTurn = createInTurn();
  async function pending(): Promise<readonly PairingRequest[]> {
    const all = (await stored.get<PairingRequest[]>('requests')) ?? [];
    return all.filter(({ expiresAt }) => expiresAt > clock.now());
  }
  async function take(code: string): Promise<PairingRequest | undefined> {
    const all = await pending();
    const found = all.find((request) => request.code === code.trim().toUpperCase());
    if (found !== undefined)
      await stored.set(
        'requests',
        all.filter((request) => request !== found),
      );
    return found;
  }
  async function request({ sender, conversation }: Message): Promise<PairingRequest | undefined> {
    const all = await pending();
    const here = all.filter((other) => other.conversation.channel === conversation.channel);
    if (here.length >= mostPending || !(await mayAnswer(sender.id))) return undefined;
    const expiresAt = clock.now() + hourMs;
    const made = { code: newCode(), sender: sender.id, name: sender.name, conversation, expiresAt };
    await stored.set('requests', [...all, made]);
    return made;
  }
  async function mayAnswer(sender: string): Promise<boolean> {
    const answered = (await stored.get<number>(`answered:${sender}`)) ?? 0;
    if (answered > clock.now() - hourMs) return false;
    await stored.set(`answered:${sender}`, clock.now(), hourMs);
    return true;
  }
  return {
    pending,
    request: (message) => inTurn(() => request(message)),
    mayAnswer: (sender) => inTurn(() => mayAnswer(sender)),
    approve: (code) =>
      inTurn(async () => {
        const found = await take(code);
        if (found === undefined) return undefined;
        await people.pair({ sender: found.sender, name: found.name, since: clock.now() });
        return found;
      }),
    deny: (code) => inTurn(() => take(code)),
    async newOwnerToken() {
      const token = randomBytes(16).toString('hex');
      await stored.set('claim', { token, expiresAt: clock.now() + ownerTokenMs });
      return token;
    },
    claim: (token, sender) =>
      inTurn(async () => {
        const valid = await stored.get<{ token: string; expiresAt: number }>('claim');
        if (valid === undefined || valid.expiresAt <= clock.now() || !sameText(valid.token, token))
          return false;
        await stored.delete('claim');
        await people.addOwner(sender);
        return true;
      }),
  };
}

function newCode(): string {
  return Array.from({ length: 8 }, () => codeLetters[randomInt(codeLetters.length)]).join('');
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
