import type { CapabilityKey } from '../../../accounts/capability-key.ts';
import { isSecret } from '../../../accounts/read-auth-answer.ts';
import { leaseMs } from '../../../accounts/sign-in-worker.ts';
import type { CapabilityCode } from '../../../core/codes.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import type { CapabilityRecords, KeptFlow } from '../../../store/capability-records.ts';
import type { AccountBook } from './account-book.ts';
import type { Reach } from './checked-fetch.ts';
import { errorKind } from './sign-in-needed.ts';
import { isSame } from './same-issuer.ts';
import {
  accountOf,
  idOfState,
  newProof,
  openSignIn,
  sealSignIn,
  type OpenSignIn,
  type SignIn,
} from './sign-in.ts';

/** What an answer of a sign-in page says. */
export type PageAnswer = Readonly<{ code: string | null; error: string | null; iss: string | null }>;

/**
 * What became of a step. `busy`: it is being worked on. `ready`: a page that is loaded shows the code. `proof`: the page shows this code, once. `linked`: the account is
 * usable.
 */
export type SignInStep = Readonly<
  | { kind: 'unknown' | 'busy' | 'used' }
  | { kind: 'away' | 'ready' | 'linked'; signIn: OpenSignIn }
  | { kind: 'proof'; signIn: OpenSignIn; proof: string }
  | { kind: 'ended'; code: CapabilityCode; signIn: OpenSignIn }
>;

export type SignIns = Readonly<{
  /** The sign-in that a state belongs to, if it is one, whatever became of it. */
  ofState(state: string): Promise<OpenSignIn | undefined>;
  /** Takes the answer of a sign-in page. It counts once; a page that is loaded again shows nothing more. */
  answer(signIn: OpenSignIn, answer: PageAnswer): Promise<SignInStep>;
  /** Takes an answer that the person pasted. The work is done in the background, because it must survive a crash. */
  submit(signIn: OpenSignIn, answer: PageAnswer): Promise<'submitted' | CapabilityCode>;
  /** Does what is due in a sign-in: its code is exchanged, and a pasted one makes the account. */
  advance(kept: KeptFlow): Promise<SignInStep>;
  /** Makes the account of a sign-in whose code came back. False if it is no longer open. */
  link(signIn: OpenSignIn): Promise<boolean>;
  /** The person knows that a pasted sign-in is linked. Until then it is `linked` again when its lease runs out. */
  told(signIn: OpenSignIn): Promise<void>;
  /** Ends a sign-in. Tokens that it got already are revoked. */
  end(signIn: OpenSignIn): Promise<void>;
  change(
    signIn: OpenSignIn,
    content: SignIn,
    to: Omit<Parameters<CapabilityRecords['change']>[2], 'sealed'>,
  ): Promise<OpenSignIn | undefined>;
}>;

const againMs = 5_000;

type SignInDeps = Readonly<{
  records: CapabilityRecords;
  key: () => Promise<CapabilityKey>;
  book: AccountBook;
  reachFor(server: string): Reach;
  clock: Clock;
  log: Log;
}>;

/**
 * The steps of sign-ins, each of which is stored before the next one (X8). A code is exchanged at most once in a process,
 * and by another process only after the lease of a dead one.
 */
export function createSignIns(deps: SignInDeps): SignIns {
  const { records, key, clock } = deps;
  const basics = createBasics(deps);
  const { change, end, link, linkPasted, showProof } = basics;
  const exchange = createExchange(deps, basics);

  return {
    change,
    end,
    link,
    async told({ id }) {
      await records.change(id, 'ended', { state: 'ended', sealed: '' });
    },
    async ofState(state) {
      const kept = await records.flow(idOfState(state));
      const signIn = kept && openSignIn(await key(), kept);
      return signIn !== undefined && isSecret(signIn.content.state, state) ? signIn : undefined;
    },
    async answer(signIn, answer) {
      if (signIn.content.back !== 'page') return { kind: 'unknown' };
      const wrong = whyNot(signIn, answer, clock.now());
      if (wrong !== undefined) {
        if (signIn.state === 'pending') await end(signIn);
        return { kind: 'ended', code: wrong, signIn };
      }
      if (signIn.state === 'submitted') return { kind: 'busy' };
      if (signIn.state === 'linked') return showProof(signIn);
      const to = { state: 'submitted', dueAt: clock.now() + leaseMs } as const;
      const submitted = await change(signIn, { ...signIn.content, code: answer.code ?? '' }, to);
      const step: SignInStep = submitted === undefined ? { kind: 'used' } : await exchange(submitted);
      return step.kind === 'ready' ? showProof(step.signIn) : step;
    },
    async submit(signIn, answer) {
      const wrong = whyNot(signIn, answer, clock.now());
      if (wrong !== undefined) {
        if (signIn.state === 'pending') await end(signIn);
        return wrong;
      }
      const to = { state: 'submitted', dueAt: clock.now() } as const;
      const submitted =
        signIn.state === 'pending'
          ? await change(signIn, { ...signIn.content, code: answer.code ?? '' }, to)
          : undefined;
      return submitted === undefined ? 'capability_auth_flow_invalid' : 'submitted';
    },
    async advance(kept) {
      const signIn = openSignIn(await key(), kept);
      if (signIn?.state === 'linked' && signIn.content.back === 'paste') return linkPasted(signIn);
      // The process that linked it died before the person was told.
      if (signIn?.state === 'ended') return { kind: 'linked', signIn };
      return signIn?.state === 'submitted' ? exchange(signIn) : { kind: 'unknown' };
    },
  };
}

/** Why an answer can't be of this sign-in. Undefined if it can. */
function whyNot(
  { content, state, expiresAt }: OpenSignIn,
  { code, error, iss }: PageAnswer,
  now: number,
): CapabilityCode | undefined {
  const { issuer, metadata } = content.authority;
  const says = Reflect.get(metadata, 'authorization_response_iss_parameter_supported') === true;
  if (state === 'ended') return 'capability_auth_flow_invalid';
  if (expiresAt <= now) return 'capability_auth_flow_expired';
  // An answer of another server, or of nobody known, must not reach this one's token endpoint (RFC 9207).
  if (iss === null ? says : !isSame(iss, issuer)) return 'capability_auth_state_mismatch';
  if (error !== null) return 'capability_auth_flow_denied';
  return code === null || !/^[\x21-\x7e]{1,2048}$/.test(code)
    ? 'capability_auth_callback_invalid'
    : undefined;
}

/** What several steps need: to store one, to end a sign-in, and to make the account. */
function createBasics({ records, key, book, reachFor, clock, log }: SignInDeps) {
  const change: SignIns['change'] = async (signIn, content, to) => {
    const sealed = sealSignIn(await key(), signIn.id, content);
    const done = await records.change(signIn.id, signIn.state, { ...to, sealed });
    return done ? { ...signIn, state: to.state, sealed, content } : undefined;
  };

  async function end(signIn: OpenSignIn): Promise<void> {
    const { server, tokens, authority, client } = signIn.content;
    await records.change(signIn.id, signIn.state, { state: 'ended', sealed: '' });
    if (tokens === undefined) return;
    const { revoke } = await import('./tokens.ts');
    await revoke({ authority, client }, tokens, reachFor(server).fetch).catch((error: unknown) =>
      log.info({ server, kind: errorKind(error) }, 'could not revoke the tokens of a sign-in'),
    );
  }

  async function linkPasted(signIn: OpenSignIn): Promise<SignInStep> {
    const sealed = sealSignIn(await key(), signIn.id, { ...signIn.content, tokens: undefined });
    const left = { sealed, dueAt: clock.now() + leaseMs };
    return (await link(signIn, left)) ? { kind: 'linked', signIn } : { kind: 'used' };
  }

  /** Gives the code to the page, once: a page that is loaded again shows none. */
  async function showProof(signIn: OpenSignIn): Promise<SignInStep> {
    const { proof = '', isShown } = signIn.content;
    if (isShown === true) return { kind: 'used' };
    const shown = await change(signIn, { ...signIn.content, isShown: true }, { state: 'linked' });
    return shown === undefined ? { kind: 'used' } : { kind: 'proof', signIn: shown, proof };
  }

  async function link(signIn: OpenSignIn, left?: Parameters<CapabilityRecords['link']>[2]): Promise<boolean> {
    const { content } = signIn;
    if (content.tokens === undefined || signIn.expiresAt <= clock.now()) return false;
    const account = await book.toKeep(content, accountOf(content, content.tokens), clock.now());
    return records.link(signIn.id, account, left);
  }

  return { change, end, link, linkPasted, showProof };
}

/** Makes the function that exchanges the code of a sign-in page. */
function createExchange(
  { reachFor, clock, log }: SignInDeps,
  { change, end, linkPasted }: ReturnType<typeof createBasics>,
) {
  return async function exchange(signIn: OpenSignIn): Promise<SignInStep> {
    const { content } = signIn;
    const { server, authority, client, verifier, redirectUrl, code = '' } = content;
    const { redeem, isRefused } = await import('./tokens.ts');
    try {
      const of = { code, verifier, redirectUrl };
      const tokens = await redeem({ authority, client }, of, {
        fetch: reachFor(server).fetch,
        now: clock.now(),
      });
      const got = { ...content, code: undefined, verifier: '', tokens };
      if (content.back === 'page') {
        const ready = await change(signIn, { ...got, proof: newProof() }, { state: 'linked' });
        return ready === undefined ? { kind: 'used' } : { kind: 'ready', signIn: ready };
      }
      const pasted = await change(signIn, got, { state: 'linked', dueAt: clock.now() + leaseMs });
      return pasted === undefined ? { kind: 'used' } : linkPasted(pasted);
    } catch (error) {
      log.info({ server, signIn: signIn.id, kind: errorKind(error) }, 'a sign-in at an MCP server failed');
      if (isRefused(error) || signIn.expiresAt <= clock.now()) {
        await end(signIn);
        return { kind: 'ended', code: 'capability_auth_flow_invalid', signIn };
      }
      const again =
        content.back === 'page'
          ? { state: 'pending' as const }
          : { state: 'submitted' as const, dueAt: clock.now() + againMs };
      await change(signIn, content, again);
      return { kind: 'away', signIn };
    }
  };
}
