import { createHash } from 'node:crypto';
import path from 'node:path';
import type { App } from '../../app.ts';
import { createEndWithUs } from '../../lib/processes/end-with-us.ts';
import { inlineCode } from '../../lib/text/text.ts';
import {
  createAgreements,
  createMcpOperations,
  type Disagreement,
  type McpOperations,
} from './server-agreement.ts';
import { createConfiguredServers, type ConfiguredServers } from './create-configured-servers.ts';
import { mcpToolName } from './mcp-tool.ts';
import { createServerAccounts, type ServerAccounts } from './accounts/create-server-accounts.ts';
import { createPersonLinks, type PersonLinks } from './accounts/person-links.ts';
import { createPersonTools } from './accounts/person-tools.ts';
import { signedFetch } from './accounts/signed-fetch.ts';
import { agreedFiles } from '../../skills/install/bundle-place.ts';
import { settingsInPlace } from './bundle-settings.ts';
import { signedIn } from './mcp-settings.ts';
import { createPersonInput, type PersonInput } from './person-input.ts';
import type { Say, Words } from '../../core/texts/say.ts';
import { skilletHere } from '../../core/skillet-here.ts';

const namedLimit = 20;

export function createMcp(app: App): ConfiguredServers &
  Readonly<{
    operations: McpOperations;
    accounts: ServerAccounts;
    links: PersonLinks;
    input: PersonInput;
    /** Resolves once the tools of accounts that were connected just now are listed. */
    looked(): Promise<void>;
  }> {
  const { runtime, store, replies, audit, env, clock, log } = app;
  const redact = (text: string): string => runtime().redact(text);
  const input = createPersonInput(app);
  const agreements = createAgreements({ stored: store.keyed('mcp'), signals: store.signals });
  const file = runtime().config.path;
  const servers = createConfiguredServers({
    settings: () => runtime().config.mcp,
    agreements,
    async onOff(server, off) {
      log.warn({ server, off }, 'tools of an MCP server are off until the operator agrees');
      const { key, words } = mcpNotice(server, off, clock.now());
      await replies.tellOwners(key, words);
    },
    process: { env, cwd: file === undefined ? process.cwd() : path.dirname(file) },
    async connect(of, options) {
      const { settings, cwd } = settingsInPlace(of, { dataDir: runtime().config.bot.dataDir, ...options });
      return (await import('./connect-once.ts')).connectOnce(settings, { ...options, cwd });
    },
    filesOf: (bundle) => agreedFiles(path.resolve(runtime().config.bot.dataDir), bundle),
    converse: input.converse,
    redact,
    clock,
    log,
  });
  const { accounts, links, looked } = createPersonSide(app, servers);
  const ofPeople = createPersonTools({
    settings: () => signedIn(runtime().config.mcp),
    ...{ agreementOf: servers.agreementOf, accounts, links, writeCommand: app.writeCommand, redact },
    converse: input.converse,
  });
  return {
    ...servers,
    ...{ accounts, links, looked, input },
    tools: () => [...servers.tools(), ...ofPeople()],
    operations: createMcpOperations({ agreements, states: servers.states, redact, audit }),
  };
}

/** Accounts of people, and their connections, which end with the account. */
function createPersonSide(app: App, { takeOfPerson }: ConfiguredServers) {
  const { runtime, clock, log } = app;
  const accounts = createServerAccounts(app, async (of, is) => {
    await links.end(of);
    const settings = runtime().config.mcp[of.server];
    // The list of the first account is what the operator agrees to, so it is read now.
    if (is !== 'linked' || settings === undefined) return;
    const look = links
      .look({ ...of, settings }, app.stopping)
      .catch((error: unknown) =>
        log.info({ server: of.server, err: error }, 'could not list the tools of an MCP server'),
      )
      .finally(() => looks.delete(look));
    looks.add(look);
  });
  const looks = new Set<Promise<void>>();
  const endWithUs = createEndWithUs(log);
  const links: PersonLinks = createPersonLinks({
    async connect({ settings, ...of }, options) {
      const { connectOnce } = await import('./connect-once.ts');
      const account = { ...of, url: settings.url ?? '' };
      const signed = signedFetch(
        (refused) => accounts.token(account, refused),
        () => accounts.lapse(of),
      );
      const redact = (text: string): string => runtime().redact(text);
      return connectOnce(settings, { ...options, signed, env: {}, cwd: '/', redact, endWithUs, clock });
    },
    take: (server, _, raw) => takeOfPerson(server, raw),
    clock,
  });
  return { accounts, links, looked: async () => void (await Promise.all(looks)) };
}

function mcpNotice(server: string, off: readonly Disagreement[], at: number): { key: string; words: Words } {
  const lines = (say: Say): readonly string[] => [
    ...off.slice(0, namedLimit).map(({ tool, why }) => {
      const name = inlineCode(mcpToolName(server, tool));
      return why === 'changed' ? say`${name} is no longer what you approved.` : say`${name} is new.`;
    }),
    ...(off.length > namedLimit ? [say`${off.length - namedLimit} more`] : []),
  ];
  // The key is the same in all processes, so that owners are told once; after an hour they are told again.
  const told = [server, off, Math.floor(at / 3_600_000)];
  const mark = createHash('sha256').update(JSON.stringify(told)).digest('hex').slice(0, 16);
  return {
    key: `mcp:${mark}`,
    words: (say) =>
      [
        say`The MCP server ${inlineCode(server)} changed its tools. These are off until you approve them:`,
        '',
        ...lines(say).map((line) => `- ${line}`),
        '',
        say`${inlineCode(`${skilletHere()} mcp list`)} shows them; ${inlineCode(`${skilletHere()} mcp agree ${server}`)} switches them on.`,
      ].join('\n'),
  };
}
