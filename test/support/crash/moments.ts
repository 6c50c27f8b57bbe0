import type { KillAt } from './kill-points.ts';

/** A moment in the life of a message, found by what the bot then writes. */
export type Moment = Readonly<{
  name: string;
  /** `$` stands for the token. */
  say: string;
  kill(of: Readonly<{ chat: string; token: string }>): KillAt;
  /** Also in the short form that runs with every `npm run test:all`: on both stores, or on the embedded one, which starts sooner. */
  often?: 'both' | 'embedded';
}>;

type When = KillAt['when'];

/** What writes entries, messages that arrive, and parts to send, on either store. */
const step = '(INSERT INTO entries|skillet\\.write_steps)\\b';
const arriving = '(INSERT INTO (skillet\\.)?inbox|skillet\\.accept_new)\\b';
const parts = '(INSERT INTO outbox|skillet\\.write_steps)\\b';

/** An entry of this kind whose text holds the token. */
function entry(kind: string, when: When): Moment['kill'] {
  return ({ token }) => ({ at: `${step}.*\\b${kind}\\b.*${token}\\b`, when });
}

/** The `nth` start or end of a tool call; ids hold the token. */
function call(kind: 'tool_started' | 'tool_result', when: When, nth = 1): Moment['kill'] {
  return ({ token }) => ({
    at: `${kind}\\\\",\\\\"toolUseId\\\\":\\\\"[^"]*_${token}_`,
    when,
    nth,
  });
}

function inChat(statement: string, when: When): Moment['kill'] {
  // A key of the message or of its reply, not the transcript.
  return ({ chat }) => ({ at: `${statement}.*\\b${chat}:[\\d.]+[#"]`, when });
}

export const accepting: readonly Moment[] = [
  {
    name: 'before a message is stored',
    say: 'say $',
    kill: inChat(arriving, 'before'),
  },
  {
    name: 'within the transaction that stores it',
    say: 'say $',
    kill: inChat(arriving, 'after'),
  },
  {
    name: 'stored, the platform not told',
    say: 'say $',
    kill: inChat(arriving, 'committed'),
    often: 'both',
  },
];

export const answering: readonly Moment[] = [
  { name: 'the message stands in the transcript', say: 'say $', kill: entry('user', 'committed') },
  { name: 'the model answered, nothing stored', say: 'say $', kill: entry('assistant', 'before') },
  {
    name: 'the answer of the model is stored',
    say: 'say $',
    kill: entry('assistant', 'committed'),
    often: 'both',
  },
];

/** Where a script may have been under way, so that the model is told that nobody knows. */
export const cutOff: readonly string[] = [
  'a script that may not be repeated is about to start',
  'that script is done, its result is not stored',
  'the second script is done, its result is not stored',
];

export const calling: readonly Moment[] = [
  { name: 'the model wants two read-only tools', say: 'list $', kill: entry('assistant', 'committed') },
  {
    name: 'both are under way',
    say: 'list $',
    kill: call('tool_started', 'committed', 2),
    often: 'embedded',
  },
  { name: 'one of them is done', say: 'list $', kill: call('tool_result', 'committed') },
  { name: 'a run is about to begin', say: 'mark $', kill: call('tool_started', 'committed') },
  { name: 'the run stands in its own journal', say: 'mark $', kill: entry('run:.*user', 'committed') },
  {
    name: 'a script that may not be repeated is about to start',
    say: 'mark $',
    kill: call('tool_started', 'committed', 2),
  },
  {
    name: 'that script is done, its result is not stored',
    say: 'mark $',
    kill: call('tool_result', 'before'),
    often: 'both',
  },
  { name: 'that result is stored', say: 'mark $', kill: call('tool_result', 'committed'), often: 'embedded' },
  {
    name: 'the second script is done, its result is not stored',
    say: 'mark $',
    kill: call('tool_result', 'before', 3),
  },
  { name: 'the run has ended', say: 'mark $', kill: entry('run:.*marked', 'committed') },
  {
    name: 'the result of the run is about to be stored',
    say: 'mark $',
    kill: call('tool_result', 'before', 4),
  },
  { name: 'the result of the run is stored', say: 'mark $', kill: call('tool_result', 'committed', 4) },
  {
    name: 'a run that a person began is under way',
    say: '/ledger $',
    kill: call('tool_result', 'committed'),
  },
  {
    name: 'a run that a person began has ended',
    say: '/ledger $',
    kill: entry('run:.*marked', 'committed'),
    often: 'embedded',
  },
  {
    name: 'its result stands in the transcript',
    say: '/ledger $',
    kill: entry('#skill.*marked', 'committed'),
  },
];

export const tookUnheard = 'the platform took it, the bot never heard';

export const sending: readonly Moment[] = [
  {
    name: 'the reply is not committed',
    say: 'say $',
    kill: inChat(parts, 'after'),
  },
  {
    name: 'the reply waits to be sent',
    say: 'say $',
    kill: inChat(parts, 'committed'),
  },
  {
    name: 'about to be sent',
    say: 'say $',
    kill: inChat("(UPDATE outbox SET status = 'sending'|skillet\\.begin_sends)", 'committed'),
    often: 'embedded',
  },
  {
    name: tookUnheard,
    say: 'say $',
    kill: inChat("UPDATE (skillet\\.)?outbox SET status = 'sent'", 'before'),
    often: 'both',
  },
  {
    name: 'its sending is noted',
    say: 'say $',
    kill: inChat("UPDATE (skillet\\.)?outbox SET status = 'sent'", 'committed'),
  },
];
