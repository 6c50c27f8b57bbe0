import { z } from 'zod';
import { accessSection } from './access-section.ts';
import { slackSection, telegramSection } from './channel-sections.ts';
import { checkModelNames, modelOfAlias } from './model-aliases.ts';
import {
  agentProfile,
  agentSection,
  modelsSection,
  promptSection,
  type WrittenModels,
} from './model-sections.ts';
import { section } from './section.ts';
import {
  auditSection,
  botSection,
  limitsSection,
  logSection,
  serverSection,
  storeSection,
} from './service-sections.ts';
import { skillsSection } from './skill-sections.ts';
import {
  capabilitiesSection,
  mcpSection,
  plugin,
  policySection,
  sandboxSection,
  toolsSection,
} from './tool-sections.ts';
import { claudeModel, type ThinkingKind } from '../core/claude-models.ts';

/** Servers with another protocol. */
const foreign: readonly string[] = ['api.openai.com', 'generativelanguage.googleapis.com'];

/** The whole file (G4). Decoding gives camelCase with every default filled in; encoding gives the file's own keys. */
export const configSchema = section(
  {
    bot: botSection.prefault({}),
    telegram: telegramSection.prefault({}),
    slack: slackSection.prefault({}),
    access: accessSection.prefault({}),
    models: modelsSection.prefault({}),
    agent: agentSection.prefault({}),
    prompt: promptSection.prefault({}),
    skills: skillsSection.prefault({}),
    agents: z.record(z.string(), agentProfile).default({}),
    policy: policySection.prefault({}),
    limits: limitsSection.prefault({}),
    sandbox: sandboxSection.prefault({}),
    capabilities: capabilitiesSection.prefault({}),
    plugins: z.array(plugin).default([]),
    tools: toolsSection.default({}),
    mcp: mcpSection.default({}),
    store: storeSection.prefault({}),
    server: serverSection.prefault({}),
    log: logSection.prefault({}),
    audit: auditSection.prefault({}),
  },
  (table, complain) => {
    checkModelNames(table, complain);
    checkModelSettings(table, complain);
  },
);

/** What the file says, before paths are resolved and aliases filled in. */
export type Settings = z.output<typeof configSchema>;

type Complain = (path: readonly string[], write: string) => void;

type Alias = WrittenModels['aliases'][string];

/** Complains of settings that the chosen model, or the server it is asked at, is known to refuse (M14). */
function checkModelSettings({ models }: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { aliases = {} } = (models ?? {}) as Partial<WrittenModels>;
  for (const [name, alias] of Object.entries(aliases)) {
    if (typeof alias !== 'object') continue;
    const say = (key: string, write: string): void => complain(['models', name, key], write);
    checkThinking(modelOfAlias(name, alias), alias, say);
    const wrong = alias.baseUrl === undefined ? undefined : wrongAddress(alias.baseUrl);
    if (wrong !== undefined) say('base_url', wrong);
  }
}

function checkThinking(
  model: string,
  { thinking, effort }: Alias,
  say: (key: string, write: string) => void,
): void {
  const known = claudeModel(model);
  if (known === undefined) return;
  const kind: ThinkingKind | undefined = typeof thinking === 'number' ? 'budget' : thinking;
  if (kind !== undefined && !known.thinking.includes(kind)) {
    const may = known.thinking.map((each) => (each === 'budget' ? 'a number of tokens' : `"${each}"`));
    say('thinking', `${model} refuses that: write ${may.join(' or ')}, or remove the line`);
  }
  if (effort === undefined) return;
  if (!known.efforts.includes(effort)) {
    const may = known.efforts.map((each) => `"${each}"`).join(', ');
    say('effort', `${model} refuses that: ${may === '' ? 'remove the line' : `write one of ${may}`}`);
  } else if (known.bindsThinking && kind !== undefined && kind !== 'adaptive' && isHard(effort)) {
    say(
      'effort',
      `${model} refuses that with thinking = "${kind}": write "high" or less, or thinking = "adaptive"`,
    );
  }
}

function isHard(effort: string): boolean {
  return effort === 'xhigh' || effort === 'max';
}

function wrongAddress(baseUrl: string): string | undefined {
  const { hostname, pathname } = new URL(baseUrl);
  if (foreign.includes(hostname)) {
    return 'this server does not speak the Anthropic Messages API: put a gateway that does before it, such as LiteLLM';
  }
  if (!/\/v1(\/messages)?\/?$/.test(pathname)) return undefined;
  const written = baseUrl.replace(/\/v1(\/messages)?\/?$/, '');
  return `leave out /v1, which the bot adds itself: write "${written}"`;
}
