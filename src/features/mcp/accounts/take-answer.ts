import type { CapabilityKey } from '../../../accounts/capability-key.ts';
import type { TakenAnswer } from '../../../accounts/guard-sign-ins.ts';
import { readAuthAnswer, isSecret } from '../../../accounts/read-auth-answer.ts';
import type { Message } from '../../../core/message.ts';
import { sayIn } from '../../../core/texts/say.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CapabilityRecords } from '../../../store/capability-records.ts';
import { idOfState, openSignIn, proofIn, type OpenSignIn } from './sign-in.ts';
import type { PageAnswer, SignIns } from './sign-ins.ts';

/** How often a wrong code may be sent before the sign-in ends. */
const mostWrong = 5;
/** How long after a sign-in its codes are still kept out of conversations, in milliseconds. */
const knownMs = 3_600_000;

type TakeDeps = Readonly<{
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  signIns: SignIns;
  /** Called once the account is usable. */
  linked(signIn: OpenSignIn): Promise<void>;
  /** Called if somebody else tried to finish a sign-in, which has ended then. */
  crossed(signIn: OpenSignIn): Promise<void>;
  wake(): void;
  clock: Clock;
}>;

/**
 * Takes codes and pasted addresses of sign-ins out of messages (X8). Only the person who was asked can finish a sign-in,
 * in a direct message. If somebody else has its code or address, the sign-in ends, because it reached the wrong person.
 */
export function createTakeAnswer(deps: TakeDeps): (message: Message) => Promise<TakenAnswer> {
  const { records, signIns, crossed, wake, clock } = deps;
  const takeProof = createTakeProof(deps);

  async function takeAddress(url: string, state: string, message: Message): Promise<TakenAnswer> {
    const signIn = await signIns.ofState(state);
    if (signIn === undefined) {
      // It may be over, and its answer is still none of the model's business.
      const over = await records.flow(idOfState(state));
      return over === undefined
        ? { kind: 'none' }
        : { kind: 'refused', code: 'capability_auth_flow_invalid', capability: over.capability };
    }
    const { capability } = signIn;
    if (!isPrivate(message)) return { kind: 'public' };
    if (signIn.sender !== message.sender.id) {
      await signIns.end(signIn);
      await crossed(signIn);
      return { kind: 'refused', code: 'capability_auth_state_mismatch', capability };
    }
    if (signIn.content.back === 'page') {
      const text = sayIn(
        message.sender.language,
      )`Open that page in your browser, and send me only the code that it shows.`;
      return { kind: 'refused', code: 'capability_auth_callback_invalid', capability, text };
    }
    const submitted = await signIns.submit(signIn, readPage(url));
    if (submitted !== 'submitted') return { kind: 'refused', code: submitted, capability };
    wake();
    return { kind: 'submitted', flow: signIn.id, capability };
  }

  return async (message) => {
    const proof = proofIn(message.text);
    if (proof !== undefined) {
      const taken = await takeProof(proof, message);
      if (taken.kind !== 'none') return taken;
    }
    const answer = readAuthAnswer(message.text);
    if (answer.kind === 'none') return answer;
    if (answer.state === null)
      return answer.kind === 'code' && (await hasFlows()) ? takeBareCode(message, deps) : { kind: 'none' };
    const url = answer.kind === 'code' && answer.url !== null ? answer.url : addressIn(message.text);
    return takeAddress(url, answer.state, message);
  };

  async function hasFlows(): Promise<boolean> {
    return (await records.flowsSince(clock.now())).length > 0;
  }
}

/** Whether this person was asked to paste an address, and sends something that looks like the code within it. */
async function takeBareCode(message: Message, { records, key, clock }: TakeDeps): Promise<TakenAnswer> {
  const opened = await key();
  const open = (await records.flows(message.sender.id))
    .filter(({ state, expiresAt }) => state === 'pending' && expiresAt > clock.now())
    .flatMap((kept) => openSignIn(opened, kept) ?? [])
    .find(({ content }) => content.back === 'paste');
  if (open === undefined) return { kind: 'none' };
  if (!isPrivate(message)) return { kind: 'public' };
  const text = sayIn(
    message.sender.language,
  )`Please send the full address of that page: it shows that the answer is for you.`;
  return { kind: 'refused', code: 'capability_auth_code_missing', capability: open.capability, text };
}

function createTakeProof({ records, key, signIns, linked, crossed, clock }: TakeDeps) {
  /** The open sign-in of anybody that this code finishes. */
  async function withProof(proof: string): Promise<OpenSignIn | undefined> {
    const kept = (await records.flowsSince(clock.now())).filter(({ state }) => state === 'linked');
    if (kept.length === 0) return undefined;
    const opened = await key();
    return kept
      .flatMap((flow) => openSignIn(opened, flow) ?? [])
      .find(({ content }) => content.isShown === true && isSecret(content.proof, proof));
  }

  async function wrong(signIn: OpenSignIn): Promise<void> {
    const wrongProofs = (signIn.content.wrongProofs ?? 0) + 1;
    if (wrongProofs >= mostWrong) await signIns.end(signIn);
    else await signIns.change(signIn, { ...signIn.content, wrongProofs }, { state: 'linked' });
  }

  return async (proof: string, message: Message): Promise<TakenAnswer> => {
    const { sender } = message;
    const say = sayIn(sender.language);
    const signIn = await withProof(proof);
    const own = (await records.flows(sender.id)).filter(({ expiresAt }) => expiresAt > clock.now() - knownMs);
    if (signIn === undefined) {
      if (own.length === 0) return { kind: 'none' };
      if (!isPrivate(message)) return { kind: 'public' };
      const opened = await key();
      const waiting = own.filter(({ state, expiresAt }) => state === 'linked' && expiresAt > clock.now());
      for (const kept of waiting.flatMap((flow) => openSignIn(opened, flow) ?? [])) await wrong(kept);
      const text = say`That code was used before, or is not the code of an open sign-in. Look at the page again, or ask me for a new link.`;
      return { kind: 'refused', code: 'capability_auth_flow_invalid', capability: own[0]?.capability, text };
    }
    const { capability } = signIn;
    if (signIn.sender !== sender.id) {
      await signIns.end(signIn);
      await crossed(signIn);
      const text = say`That code belongs to a sign-in that somebody else started, so I connected nothing. If you signed in there just now, somebody may have sent you their link: be careful.`;
      return { kind: 'refused', code: 'capability_auth_state_mismatch', capability, text };
    }
    if (!isPrivate(message)) return { kind: 'public' };
    if (!(await signIns.link(signIn)))
      return { kind: 'refused', code: 'capability_auth_flow_expired', capability };
    await linked(signIn);
    return { kind: 'submitted', flow: signIn.id, capability };
  };
}

function isPrivate({ chatType, external }: Message): boolean {
  return chatType === 'private' && !external;
}

function addressIn(text: string): string {
  return text.split(/\s+/).find((word) => /[?&#](?:code|state|error)=/.test(word)) ?? text.trim();
}

/** What the address of a page says. */
export function readPage(address: string): PageAnswer {
  const query = URL.parse(address)?.searchParams ?? new URLSearchParams();
  return readQuery(query);
}

/** Values that are there twice count as missing, because readers would not agree on one. */
export function readQuery(query: URLSearchParams): PageAnswer {
  const one = (name: string): string | null => (query.getAll(name).length === 1 ? query.get(name) : null);
  return { code: one('code'), error: query.get('error'), iss: one('iss') };
}
