import { invocationId } from '../agent/models/anthropic-request.ts';
import { invocationEnd } from '../agent/show-to.ts';
import type { Entry } from '../core/entry.ts';
import type { CallTool } from '../core/tool-call.ts';
import { isShuttingDown } from '../lib/async/shutdown.ts';
import type { Clock } from '../lib/clock.ts';
import { labelled } from '../lib/text/escape-labels.ts';

/** A skill that a person started by name (I6). */
export type Invocation = Readonly<{ skill: string; args: string }>;

/** Calls a skill without asking a model first; its result, or its instructions, as an entry (I6). */
export async function invokeSkill(
  { skill, args, context, key }: Invocation & Readonly<{ key: string; context: string | undefined }>,
  {
    callTool,
    signal,
    clock,
  }: Readonly<{ callTool: CallTool; signal: AbortSignal; clock: Pick<Clock, 'now'> }>,
): Promise<Readonly<{ entry: Entry; settles: string | undefined }>> {
  const message = args === '' ? `Run ${skill}.` : args;
  const call = { id: invocationId(key), name: 'use_skill', input: { skill, message, args, context } };
  const outcome = await callTool(call, signal);
  if (isShuttingDown(signal)) throw signal.reason;
  const { follows, settles, marks } = outcome;
  const started = labelled('host', `The person started the skill ${skill}.`);
  const bare = args === '' ? `\n${message}` : '';
  const content =
    follows === undefined ? `${started}\n${outcome.content}` : `[Skill: ${skill}]\n${outcome.content}${bare}`;
  const item = invocationItem(key);
  return {
    entry: { kind: 'user', item, content, about: skill, follows, marks, at: clock.now() },
    settles,
  };
}

/** The item of that call's result. */
export function invocationItem(key: string): string {
  return `${key}${invocationEnd}`;
}
