import { parseArgs } from 'node:util';
import { parseJson } from '../../lib/json/json-values.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { CallTool } from '../../core/tool-call.ts';
import type { CapAnswer, ServeCap } from '../../sandbox/sandbox.ts';

const usage = `Usage: skillet-cap list
       skillet-cap invoke CAPABILITY OPERATION [--account NAME] [--input JSON]   (else the input is read from standard input)
       skillet-cap auth begin [CAPABILITY] [--account WORD]
       skillet-cap auth list | poll | complete [CAPABILITY] [--flow ID]
Prints JSON. Exit codes: 0 done, 1 refused or failed (the JSON has error.code and error.message), 2 wrong usage.
`;

type Wanted = Readonly<{ name: string; input: Readonly<Record<string, unknown>> }>;

/**
 * Makes `skillet-cap` for commands: each of its calls is a call of a capability tool, with the run's permissions,
 * policy, approval and audit (C4). Its taint passes to `of`.
 */
export function createCapCommand(
  callTool: CallTool,
  of: Pick<ToolContext, 'toolUseId' | 'addTaint'>,
): ServeCap {
  let calls = 0;
  return async (words, stdin, signal) => {
    if (words.length === 0 || words[0] === 'help' || words[0] === '--help')
      return { stdout: usage, stderr: '', exitCode: words.length === 0 ? 2 : 0 };
    const wanted = read(words, stdin);
    if (typeof wanted === 'string')
      return { stdout: '', stderr: `skillet-cap: ${wanted}\n${usage}`, exitCode: 2 };
    calls += 1;
    const outcome = await callTool({ id: `${of.toolUseId}.${calls}`, ...wanted }, signal);
    // The command may print or store what it got (S7).
    if (outcome.taint !== undefined) of.addTaint(outcome.taint);
    if (outcome.question !== undefined)
      return failed(
        'TOOL_CONFIRMATION_REQUIRED',
        'a person has to answer first, and can not be waited for here',
      );
    return shown(outcome.content, outcome.isError);
  };
}

/** Reads the command line. A string says what is wrong with it. */
function read(words: readonly string[], stdin: string): Wanted | string {
  const options = {
    account: { type: 'string' },
    input: { type: 'string' },
    flow: { type: 'string' },
  } as const;
  let parsed: ReturnType<
    typeof parseArgs<{ options: typeof options; allowPositionals: true; args: string[] }>
  >;
  try {
    parsed = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  const { account, input, flow } = parsed.values;
  const [command, ...rest] = parsed.positionals;
  switch (command) {
    case 'list':
      return rest.length === 0 ? { name: 'capability_list', input: {} } : `what is ${rest.join(' ')}?`;
    case 'invoke': {
      const [capability, operation, ...more] = rest;
      if (capability === undefined || operation === undefined || more.length > 0)
        return 'name a capability and an operation';
      const data = readInput(input ?? stdin);
      if (data === undefined) return 'the input is not a JSON object';
      const named = account === undefined ? {} : { account };
      return { name: 'capability_invoke', input: { capability, operation, input: data, ...named } };
    }
    case 'auth': {
      const [action, capability, ...more] = rest;
      if (action === undefined || more.length > 0) return 'auth begin, list, poll or complete';
      return {
        name: 'capability_auth',
        input: {
          action,
          capability,
          account_hint: account,
          flow,
        },
      };
    }
    default:
      return `there is no command ${command ?? ''}`;
  }
}

function readInput(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') return {};
  const data = parseJson(text);
  return typeof data === 'object' && data !== null && !Array.isArray(data)
    ? (data as Readonly<Record<string, unknown>>)
    : undefined;
}

function shown(content: string, isError: boolean): CapAnswer {
  const [, code, message] = /^error (\w+): ([^]*)$/.exec(content) ?? [];
  if (code !== undefined) return failed(code, message ?? '');
  const data = parseJson(content);
  if (data === undefined)
    return failed('TOOL_OUTPUT_TOO_LARGE', 'the answer is too long to be handed on whole: ask for less');
  return { stdout: `${JSON.stringify(data)}\n`, stderr: '', exitCode: isError ? 1 : 0 };
}

function failed(code: string, message: string): CapAnswer {
  return { stdout: `${JSON.stringify({ error: { code, message } })}\n`, stderr: '', exitCode: 1 };
}
