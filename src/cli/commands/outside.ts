import { OperatorError } from '../../core/errors.ts';
import { oneLine, printable } from '../../lib/text/text.ts';
import { askBot } from '../ask-bot.ts';
import {
  argument,
  command,
  flag,
  gather,
  operationInput,
  option,
  optional,
  type SharedOptions,
} from '../command.ts';
import { inMinutes, print, printJson, printList } from '../console.ts';

type Inputs = ReturnType<typeof operationInput>;

/** Commands for capabilities and MCP servers. */
export const outsideCommands = [
  command({
    name: 'capability check',
    about: 'hold a provider to the contract in docs/capabilities.md',
    args: { namespace: argument('such as notes') },
    options: {
      user: option('id', 'make its calls for this person, such as telegram:42'),
      account: option('name', 'an account that this person has linked'),
      mutate: option<readonly string[]>(
        'operation',
        'carry this out, too: notes.book:add; may be given again',
        { read: gather, preset: [] },
      ),
      input: option<Inputs>('operation=json', 'what to call an operation with; may be given again', {
        read: operationInput,
        preset: {},
      }),
    },
    json: true,
    run: async (given) => (await import('../capability-check.ts')).checkCapability(given),
  }),
  command({
    name: 'capability list',
    about: 'providers and what they offer',
    needs: 'bot',
    json: true,
    run: listCapabilities,
  }),
  command({
    name: 'capability accounts',
    about: 'who has linked which account',
    needs: 'bot',
    json: true,
    async run({ config, json }) {
      const accounts = await askBot(config, 'capability accounts');
      if (json === true) return printJson(accounts);
      const lines = accounts.map(
        ({ sender, capability, ref, linkedAt }) =>
          `${printable(sender)}  ${capability}  ${printable(ref)}  since ${inMinutes(linkedAt)}`,
      );
      printList(lines, 'Nobody has linked an account.');
    },
  }),
  command({
    name: 'capability revoke',
    about: 'use an account no more',
    args: {
      sender: argument('their id, such as telegram:42'),
      capability: argument('such as notes.book'),
      account: optional('needed if they linked more than one'),
    },
    needs: 'bot',
    run: revokeAccount,
  }),
  command({
    name: 'mcp list',
    about: 'each server with its tools, and which of them are off',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../mcp.ts')).mcpList(given),
  }),
  command({
    name: 'mcp agree',
    about: 'switch on what changed there, after showing it',
    args: { server: argument('its name in the configuration'), tool: optional('only this one') },
    options: { yes: flag('agree to what is shown without being asked') },
    needs: 'bot',
    run: async (given) => (await import('../mcp.ts')).mcpAgree(given),
  }),
];

async function listCapabilities({ config, json }: SharedOptions): Promise<void> {
  const answer = await askBot(config, 'capability list');
  if (json === true) return printJson(answer);
  const lines = answer.offered.flatMap(({ namespace, command, problem, capabilities }) => [
    `${namespace}  ${printable(command.join(' '))}`,
    ...(problem === undefined ? [] : [`  not usable: ${printable(problem)}`]),
    ...capabilities.flatMap(({ id, description, operations }) => [
      `  ${id}  ${printable(oneLine(description, 80))}`,
      `    ${operations.map(({ name, mutating }) => (mutating ? `${name} (asks)` : name)).join(', ')}`,
    ]),
  ]);
  const wrong = answer.problems.map((problem) => `not used: ${printable(problem)}`);
  printList([...lines, ...wrong], 'No capability provider is set up.');
}

/** Revokes a linked account. Without a name it takes the only one; throws OperatorError if there are several. */
async function revokeAccount(
  given: Readonly<{ sender: string; capability: string; account?: string; config?: string }>,
): Promise<void> {
  const { sender, capability, account, config } = given;
  const accounts = await askBot(config, 'capability accounts');
  const theirs = accounts.filter((one) => one.sender === sender && one.capability === capability);
  const [only, ...others] = account === undefined ? theirs : theirs.filter(({ ref }) => ref === account);
  if (only === undefined)
    throw new OperatorError(
      `${sender} has linked no ${account === undefined ? 'account' : printable(account)} to ${capability}: see \`skillet capability accounts\``,
    );
  if (others.length > 0)
    throw new OperatorError(
      `Name the account: ${theirs.map(({ ref }) => printable(ref)).join(', ')} are linked to ${capability}.`,
    );
  await askBot(config, 'capability revoke', { sender, capability, ref: only.ref });
  print(
    `The bot does not use ${printable(only.ref)} any more. What ${capability.split('.')[0]} itself keeps of it ends there.`,
  );
}
