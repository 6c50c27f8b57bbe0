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
    about: 'test a provider against docs/capabilities.md',
    args: { namespace: argument('such as notes') },
    options: {
      user: option('id', 'call it for this person, such as telegram:42'),
      account: option('name', 'an account that this person has linked'),
      mutate: option<readonly string[]>(
        'operation',
        'also run this operation, such as notes.book:add; can be repeated',
        { read: gather, preset: [] },
      ),
      input: option<Inputs>('operation=json', 'the input of an operation; can be repeated', {
        read: operationInput,
        preset: {},
      }),
    },
    json: true,
    run: async (given) => (await import('../capability-check.ts')).checkCapability(given),
  }),
  command({
    name: 'capability list',
    about: 'list providers and what they offer',
    needs: 'bot',
    json: true,
    run: listCapabilities,
  }),
  command({
    name: 'capability accounts',
    about: 'list linked accounts',
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
    about: 'unlink an account',
    args: {
      sender: argument('the id of a person, such as telegram:42'),
      capability: argument('such as notes.book'),
      account: optional('needed if they linked more than one'),
    },
    needs: 'bot',
    run: revokeAccount,
  }),
  command({
    name: 'accounts list',
    about: 'list accounts of people at MCP servers',
    needs: 'bot',
    json: true,
    async run({ config, json }) {
      const accounts = await askBot(config, 'accounts list');
      if (json === true) return printJson(accounts);
      const lines = accounts.map(({ person, server, since, state, scope = '' }) =>
        `${printable(person)}  ${printable(server)}  since ${inMinutes(since)}${state === 'lapsed' ? '  has to sign in again' : ''}  ${printable(oneLine(scope, 100))}`.trimEnd(),
      );
      printList(lines, 'Nobody has signed in to an MCP server.');
    },
  }),
  command({
    name: 'accounts remove',
    about: 'end an account of a person at an MCP server',
    args: {
      person: argument('their id, such as telegram:42, or shared'),
      server: argument('its name in the configuration'),
    },
    needs: 'bot',
    async run({ config, person, server }) {
      await askBot(config, 'accounts remove', { person, server });
      print(`The bot no longer uses this account of ${printable(person)} at ${printable(server)}.`);
    },
  }),
  command({
    name: 'mcp list',
    about: 'list servers with their tools, and say which are off',
    needs: 'bot',
    json: true,
    run: async (given) => (await import('../mcp.ts')).mcpList(given),
  }),
  command({
    name: 'mcp agree',
    about: 'show changed tools, then turn them on again',
    args: { server: argument('its name in the configuration'), tool: optional('only this one') },
    options: { yes: flag('agree without being asked') },
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
    `The bot no longer uses ${printable(only.ref)}. ${capability.split('.')[0]} itself may still hold data of it: remove that there.`,
  );
}
