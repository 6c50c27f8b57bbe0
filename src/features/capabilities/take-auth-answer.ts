import { timingSafeEqual } from 'node:crypto';
import type { CapabilityKey } from './capability-key.ts';
import { openFlow, sealFlow, type OpenFlow } from './auth-flows.ts';
import type { CapabilityCode } from '../../core/codes.ts';
import type { Message } from '../../core/message.ts';
import type { Clock } from '../../lib/clock.ts';
import { withoutEnd } from '../../lib/text/text.ts';
import type { CapabilityRecords } from '../../store/capability-records.ts';

const longest = 4_096;

const codeForm = /^[\w.~+/=%-]{4,2048}$/;

/** What a message was to open sign-ins. Anything but `none` goes no further: nothing stores, shows or logs it (C6). */
export type TakenAnswer = Readonly<
  | { kind: 'none' }
  | { kind: 'submitted'; flow: string; capability: string }
  /** It can't be used. `capability` is that of its flow, if that is known. */
  | { kind: 'refused'; code: CapabilityCode; capability?: string }
  /** Others could read the message, so its answer is not used. */
  | { kind: 'public' }
>;

type TakeDeps = Readonly<{
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  wake(): void;
  clock: Clock;
}>;

type Said = Pick<Message, 'text' | 'chatType' | 'external' | 'sender' | 'conversation'>;

/** Milliseconds during which the answer to an ended sign-in is still recognised, from any sender. */
const knownMs = 3_600_000;

/**
 * Takes answers of sign-in pages out of messages. A bare code counts only while a sign-in of its sender waits. A
 * `state` of another person is refused.
 */
export function createTakeAuthAnswer({
  records,
  key,
  wake,
  clock,
}: TakeDeps): (message: Said) => Promise<TakenAnswer> {
  async function submit(flow: OpenFlow, answer: Extract<AuthAnswer, { kind: 'code' }>): Promise<TakenAnswer> {
    const { code, url, state } = answer;
    const content = { ...flow.content, answer: { code, url, state } };
    const sealed = sealFlow(await key(), flow.id, content);
    const { capability } = flow;
    if (!(await records.change(flow.id, 'pending', { state: 'submitted', sealed, dueAt: clock.now() })))
      return { kind: 'refused', code: 'capability_auth_flow_invalid', capability };
    wake();
    return { kind: 'submitted', flow: flow.id, capability };
  }

  async function isSomebodys({ state }: Exclude<AuthAnswer, { kind: 'none' }>): Promise<boolean> {
    if (state === null) return false;
    const kept = await records.flowsSince(clock.now() - knownMs);
    if (kept.length === 0) return false;
    const opened = await key();
    return kept.some((flow) => isSame(openFlow(opened, flow)?.content.begun.expected_callback_state, state));
  }

  return async ({ text, chatType, external, sender }) => {
    const answer = readAuthAnswer(text);
    if (answer.kind === 'none') return answer;
    const kept = await records.flows(sender.id);
    const isPublic = chatType !== 'private' || external;
    if (kept.length === 0) {
      if (!(await isSomebodys(answer))) return { kind: 'none' };
      return isPublic ? { kind: 'public' } : { kind: 'refused', code: 'capability_auth_state_mismatch' };
    }
    const opened = await key();
    const flows = kept
      .flatMap((flow) => openFlow(opened, flow) ?? [])
      .filter(({ content }) => content.begun.flow_type === 'authorization_code');
    const isBare = answer.kind === 'code' && answer.url === null;
    const waits = kept.some(({ state, expiresAt }) => state === 'pending' && expiresAt > clock.now());
    if (isBare && !waits) return { kind: 'none' };
    if (isPublic) return { kind: 'public' };
    const flow = flowFor(answer, flows, clock.now());
    if (typeof flow === 'string') return { kind: 'refused', code: flow };
    const { capability } = flow;
    switch (answer.kind) {
      case 'code':
        return submit(flow, answer);
      case 'unusable':
        return { kind: 'refused', code: answer.problem, capability };
      case 'refused':
        await records.change(flow.id, 'pending', {
          state: 'ended',
          sealed: sealFlow(opened, flow.id, flow.content),
        });
        return { kind: 'refused', code: 'capability_auth_flow_denied', capability };
    }
  };
}

/** The open sign-in that an answer is for, or why there is none. */
function flowFor(
  answer: Exclude<AuthAnswer, { kind: 'none' }>,
  flows: readonly OpenFlow[],
  now: number,
): OpenFlow | CapabilityCode {
  const { state } = answer;
  const isOpen = (flow: OpenFlow): boolean => flow.state === 'pending' && flow.expiresAt > now;
  const named =
    state === null
      ? undefined
      : flows.find(({ content }) => isSame(content.begun.expected_callback_state, state));
  if (named !== undefined) {
    if (isOpen(named)) return named;
    return named.expiresAt <= now ? 'capability_auth_flow_expired' : 'capability_auth_flow_invalid';
  }
  const [only, ...others] = flows.filter(isOpen);
  if (only === undefined) return 'capability_auth_flow_expired';
  const carriesState = answer.kind !== 'code' || answer.url !== null;
  if (state !== null || (carriesState && answer.kind === 'code')) return 'capability_auth_state_mismatch';
  return others.length > 0 ? 'capability_auth_flow_ambiguous' : only;
}

function isSame(expected: string | undefined, given: string): boolean {
  if (expected === undefined) return false;
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

type AuthAnswer = Readonly<
  | { kind: 'none' }
  /** A code was found. `url` is null if it was a bare code. */
  | { kind: 'code'; code: string; url: string | null; state: string | null }
  /** The sign-in page says that the person refused. */
  | { kind: 'refused'; state: string | null }
  | { kind: 'unusable'; problem: CapabilityCode; state: string | null }
>;

/**
 * Finds a callback address, or a code that is named as one, across lines or among words (C6). A bare code is one
 * unlikely word.
 */
export function readAuthAnswer(text: string): AuthAnswer {
  const trimmed = text.trim();
  const read = trimmed.length > longest ? addresses(trimmed) : joined(trimmed);
  const urls: string[] = [];
  // This cheap check comes first, because the pattern takes a hundred times as long and every message passes here.
  const rest = !read.includes('://')
    ? read
    : read.replace(/[a-z][a-z0-9+.-]{0,100}:\/\/[^\s<>"'`]+/gi, (found) => {
        const url = tidy(found);
        urls.push(url);
        return ` ${found.slice(url.length)}`;
      });
  const callbacks = urls.filter(isCallback);
  const words = codeWords(rest);
  const [url, ...more] = callbacks;
  if (url !== undefined) return more.length > 0 ? tooMany(callbacks) : fromUrl(url, words);
  const [code, ...others] = words;
  if (code !== undefined && others.length === 0) return { kind: 'code', code, url: null, state: null };
  if (code !== undefined) return { kind: 'unusable', problem: 'capability_auth_code_conflict', state: null };
  return isBareCode(trimmed)
    ? { kind: 'code', code: bare(trimmed), url: null, state: null }
    : { kind: 'none' };
}

function fromUrl(url: string, words: readonly string[]): AuthAnswer {
  const given = parametersOf(url);
  const state = single(given, 'state') ?? null;
  const unusable = (problem: CapabilityCode): AuthAnswer => ({ kind: 'unusable', problem, state });
  if (given === undefined || ['code', 'state', 'error'].some((name) => given.getAll(name).length > 1))
    return unusable('capability_auth_callback_invalid');
  if (given.has('error')) return { kind: 'refused', state };
  const code = single(given, 'code');
  if (code === undefined || code === '') return unusable('capability_auth_code_missing');
  if (words.some((word) => word !== code)) return unusable('capability_auth_code_conflict');
  if (!/^[\x21-\x7e]{1,2048}$/.test(code)) return unusable('capability_auth_callback_invalid');
  return { kind: 'code', code, url, state };
}

function tooMany(urls: readonly string[]): AuthAnswer {
  const codes = new Set(urls.map((url) => single(parametersOf(url), 'code')));
  const [url = ''] = urls;
  return codes.size === 1
    ? fromUrl(url, [])
    : { kind: 'unusable', problem: 'capability_auth_code_conflict', state: null };
}

/** The parameters of query and fragment. Undefined if the text is no address. */
function parametersOf(url: string): URLSearchParams | undefined {
  if (!URL.canParse(url)) return undefined;
  const { search, hash } = new URL(url);
  return new URLSearchParams([search.slice(1), hash.slice(1)].filter((part) => part !== '').join('&'));
}

function isCallback(url: string): boolean {
  const given = parametersOf(url);
  if (given === undefined) return /[?&#](?:code|state)=/.test(url);
  return (given.has('state') && ['code', 'error'].some((name) => given.has(name))) || given.has('code');
}

/** Codes that are named as such, as in `code: 4/0AX…`. */
function codeWords(text: string): readonly string[] {
  const named = [...text.matchAll(/(?:^|[\s?&])code\s*(?:is\s*)?[:=]\s*([^\s&]+)/gi)].map(([, code = '']) =>
    tidy(code),
  );
  return [...new Set(named.filter((code) => codeForm.test(code)))];
}

/** Whether a word alone can be a code: eight characters or more with a digit, or a very long one. */
function isBareCode(text: string): boolean {
  const word = bare(text);
  if (!codeForm.test(word) || /^https?:/i.test(word)) return false;
  return (word.length >= 8 && /\d/.test(word) && /[A-Za-z/._~-]/.test(word)) || word.length >= 24;
}

function bare(text: string): string {
  return withoutEnd(text.replace(/^[`"'<(]+/, ''), '`"\'>)');
}

/** Keeps only the addresses of a long text, which limits the time that it takes. */
function addresses(text: string): string {
  const words = text.split(/\s/).filter((word) => word.length <= longest && word.includes('://'));
  return words.join(' ');
}

/** Joins the lines of a text that is one address, because clients break long addresses. */
function joined(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const isOne =
    lines.length > 1 &&
    /^<?[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(lines[0] ?? '') &&
    lines.slice(1).every((line) => /^\S+$/.test(line) && !line.includes('://'));
  return isOne ? lines.join('') : text;
}

function tidy(url: string): string {
  return withoutEnd(url, ')]}>.,;!?`\'"');
}

function single(given: URLSearchParams | undefined, name: string): string | undefined {
  const values = given?.getAll(name) ?? [];
  return values.length === 1 ? values[0] : undefined;
}
