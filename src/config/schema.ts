import { z } from 'zod';
import { namedFirst } from '../core/first-words.ts';
import { languages } from '../core/texts/say.ts';
import { slackSection, telegramSection } from './channel-sections.ts';
import { checkHookNames, hook } from './hook-sections.ts';
import { checkRoutineNames, routine } from './routine-sections.ts';
import { admittedUserId, groupId, groupUserId, memberId, ownerId, wrongChat } from './id.ts';
import { checkGroupNames } from './people-groups.ts';
import { checkModelNames, checkModelSearch, checkModelSettings } from './model-aliases.ts';
import { checkSkillAddresses, networkSection } from './network-section.ts';
import { agentProfile, agentSection, modelsSection, promptSection } from './model-sections.ts';
import { listenAddress, publicUrl, section, zone } from './section.ts';
import { skillsSection } from './skill-sections.ts';
import {
  capabilitiesSection,
  mcpSection,
  plugin,
  policySection,
  sandboxSection,
  toolsSection,
} from './tool-sections.ts';

const firstWords = z
  .string()
  .refine((text) => namedFirst.every((name) => new RegExp(`/${name}\\b`).test(text)), {
    error: `people read this first and may not miss it: say that the bot is an AI and what it keeps, and name ${namedFirst.map((name) => `/${name}`).join(' and ')}. Without this key the bot says it in its own words`,
  });

/** `[bot]`. Folders are relative to the config file. */
const botSection = section({
  name: z.string().min(1).default('Skillet'),
  language: z.enum(['auto', 'en', ...languages]).default('auto'),
  timezone: zone.optional(),
  owner: z.array(ownerId).default([]),
  data_dir: z.string().min(1).default('./data'),
  workspace: z.string().min(1).default('./workspace'),
  shutdown_seconds: z.int().min(1).default(5),
  retention_days: z.int().min(1).default(90),
  feedback: z.enum(['buttons', 'reactions', 'off']).optional(),
  first_words: firstWords.optional(),
});

function limits(runs: number, hourly: number, tokens: number, dollars: number) {
  return {
    concurrent_runs: z.int().min(0).default(runs),
    runs_per_hour: z.int().min(0).default(hourly),
    tokens_per_day: z.int().min(0).default(tokens),
    usd_per_day: z.number().min(0).default(dollars),
    usd_per_month: z.number().min(0).default(0),
  };
}

/** `[limits]` per sender, chat, skill and in total (U10). 0 means no limit. */
const limitsSection = section({
  ...limits(3, 120, 2_000_000, 10),
  routines: z.int().min(0).default(20),
  extra_usd: z.number().min(0).default(1),
  chat: section(limits(6, 300, 5_000_000, 25)).prefault({}),
  skill: section(limits(12, 600, 10_000_000, 50)).prefault({}),
  global: section(limits(24, 1200, 20_000_000, 100)).prefault({}),
});

/** `[store]`. The default is SQLite in the data directory (Q8). */
const storeSection = section({
  url: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, {
      error: 'write "sqlite:./data/skillet.db" or "postgres://user@host/name"',
    })
    .optional(),
});

/** `[server]`, which is off without an address (L4). */
const serverSection = section(
  { listen: listenAddress.optional(), public_url: publicUrl.optional() },
  (table, complain) => {
    if (table['public_url'] !== undefined && table['listen'] === undefined)
      complain(['public_url'], 'write listen beside it, such as "127.0.0.1:9464", where your proxy leads to');
  },
);

/** `[log]`. The default is pretty on a terminal and JSON otherwise (L5). */
const logSection = section({
  level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  format: z.enum(['pretty', 'json']).optional(),
});

const auditSection = section({
  arguments: z.boolean().default(false),
  /** Undefined: the record is kept for good (L18). */
  retention_days: z.int().min(1).optional(),
});

/** `[memory]`: notes, and search of what was said (K1, K5). */
const memorySection = section({ enabled: z.boolean().default(true) });

const dm = z.enum(['pairing', 'allowlist', 'open']);
const groupsMode = z.enum(['allowlist', 'open']);
const mention = z.enum(['required', 'always']);

const accessLevel = section({
  users: z.array(admittedUserId).optional(),
  groups: z.array(groupId).optional(),
  group_users: z.array(groupUserId).optional(),
  dm: dm.optional(),
  groups_mode: groupsMode.optional(),
  mention: mention.optional(),
});

/** `[access]`: who may talk (A9). `group_users` has no default, because an empty list admits nobody. */
const accessSection = section(
  {
    users: z.array(admittedUserId).default([]),
    groups: z.array(groupId).default([]),
    group_users: z.array(groupUserId).optional(),
    dm: dm.default('pairing'),
    groups_mode: groupsMode.default('allowlist'),
    mention: mention.default('required'),
    telegram: accessLevel.optional(),
    slack: accessLevel.optional(),
    chats: z.record(z.string(), accessLevel).default({}),
  },
  ({ chats }, complain) => {
    if (typeof chats !== 'object' || chats === null) return;
    for (const id of Object.keys(chats)) {
      const wrong = wrongChat(id);
      if (wrong !== undefined) complain(['chats', id], wrong);
    }
  },
);

/** The name in `[groups.NAME]`. Lists name the group as `group:NAME` (A13). */
const groupName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, {
  error: 'a name of a group has lower-case letters, digits, - and _',
});
const peopleGroup = section({ members: z.array(memberId) });

/** The whole config file. Decoding returns camelCase keys with defaults, encoding the keys of the file (G4). */
export const configSchema = section(
  {
    bot: botSection.prefault({}),
    telegram: telegramSection.prefault({}),
    slack: slackSection.prefault({}),
    groups: z.record(groupName, peopleGroup).default({}),
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
    hooks: z.array(hook).default([]),
    routines: z.array(routine).default([]),
    store: storeSection.prefault({}),
    server: serverSection.prefault({}),
    log: logSection.prefault({}),
    audit: auditSection.prefault({}),
    memory: memorySection.prefault({}),
    network: networkSection.prefault({}),
  },
  (table, complain) => {
    checkModelNames(table, complain);
    checkModelSettings(table, complain);
    checkModelSearch(table, complain);
    checkGroupNames(table, complain);
    checkHookNames(table, complain);
    checkRoutineNames(table, complain);
    checkSkillAddresses(table, complain);
  },
);

/** The decoded file, before paths and aliases are resolved. */
export type Settings = z.output<typeof configSchema>;
