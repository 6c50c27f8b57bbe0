import { randomBytes, randomInt } from 'node:crypto';
import type { CapabilityKey } from '../../../accounts/capability-key.ts';
import type { Requester } from '../../../core/tool.ts';
import type { KeptFlow } from '../../../store/capability-records.ts';
import type { ServerAccount } from './account-book.ts';
import type { Grant, AccountTokens } from './tokens.ts';

/** A sign-in of a person at a server, as it is stored encrypted (X8). */
export type SignIn = Grant &
  Readonly<{
    server: string;
    /** The server's address at the beginning. */
    url: string;
    /** Whose account it becomes: a person's id, or that of the one for all. */
    subject: string;
    /** Who asked, and where. They alone can finish it. */
    requester: Requester;
    link: string;
    redirectUrl: string;
    state: string;
    verifier: string;
    /**
     * How the answer of the sign-in page comes back: to the bot's public address, which then shows a code for the chat,
     * or pasted into the chat by the person.
     */
    back: 'page' | 'paste';
    /** The code of the authorization server. */
    code?: string | undefined;
    tokens?: AccountTokens | undefined;
    /** What the person has to send from their chat, once the page has shown it. */
    proof?: string | undefined;
    isShown?: boolean | undefined;
    wrongProofs?: number | undefined;
  }>;

export type OpenSignIn = KeptFlow & Readonly<{ content: SignIn }>;

const alphabet = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** How long a sign-in may take, in milliseconds. */
export const signInMs = 30 * 60_000;

function letters(count: number): string {
  return Array.from({ length: count }, () => alphabet[randomInt(alphabet.length)]).join('');
}

export function newSignInId(): string {
  return letters(10);
}

/** The state of a sign-in, which names it and nobody can guess. */
export function newState(id: string): string {
  return `${id}.${randomBytes(32).toString('base64url')}`;
}

export function idOfState(state: string): string {
  return state.slice(0, Math.max(0, state.indexOf('.')));
}

/** A code of 40 bits, such as `AB2C-3DEF`. It counts for one person, for minutes and a few tries. */
export function newProof(): string {
  return `${letters(4)}-${letters(4)}`;
}

/** The code that a text consists of, however it is written. Undefined if it is something else. */
export function proofIn(text: string): string | undefined {
  const [, first = '', second = ''] =
    /^[\s`*"'(]{0,4}([A-Z2-9]{4})[-–— ]([A-Z2-9]{4})[\s`*"').]{0,4}$/i.exec(text) ?? [];
  const proof = `${first}-${second}`.toUpperCase();
  // Two words of four letters are no code: it would be taken from an ordinary conversation.
  return /^[A-Z2-9]{4}-[A-Z2-9]{4}$/.test(proof) && (/\d/.test(proof) || /[-–—]/.test(text))
    ? proof
    : undefined;
}

export function sealSignIn(key: CapabilityKey, id: string, content: SignIn): string {
  return key.seal(content, `server sign-in ${id}`);
}

/** Undefined once it is over, because its secrets were removed then. */
export function openSignIn(key: CapabilityKey, kept: KeptFlow): OpenSignIn | undefined {
  if (kept.sealed === '') return undefined;
  return { ...kept, content: key.open(kept.sealed, `server sign-in ${kept.id}`) as SignIn };
}

/** The account that a finished sign-in becomes. */
export function accountOf({ url, authority, client }: SignIn, tokens: AccountTokens): ServerAccount {
  return { url, authority, client, tokens };
}
