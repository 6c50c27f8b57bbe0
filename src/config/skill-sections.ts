import { z } from 'zod';
import { bytesRead, mostBytes } from '../core/skill.ts';
import { steersPrograms } from '../core/steers-programs.ts';
import { chatType, renameKeys, section, toCamel, toSnake, commandLine, type CamelKeys } from './section.ts';
import { chatId, userId } from './id.ts';
import { networkTarget } from './network-section.ts';
import { readGitUrl, refProblem, repositoryName } from './source-address.ts';

const skillShape = {
  enabled: z.boolean().optional(),
  model: z.string().min(1).optional(),
  allow_chat_ids: z.array(chatId).optional(),
  allow_users: z.array(userId).optional(),
  sensitive: z.boolean().optional(),
  chat_types: z.array(chatType).optional(),
  max_iterations: z.int().min(1).optional(),
  env_in_bash: z.boolean().optional(),
  network: z.array(networkTarget).optional(),
  capability_provider: section({
    enabled: z.boolean().optional(),
    namespace: z.string().min(1).optional(),
    command: commandLine.optional(),
    timeout_seconds: z.int().min(1).max(300).optional(),
  }).optional(),
};
type SkillKeys = CamelKeys<z.output<z.ZodObject<typeof skillShape>>>;
type SkillTable = SkillKeys & { env: Record<string, string> };

const isVariable = (key: string): boolean => /^[A-Z_][A-Z0-9_]*$/.test(key);

/**
 * One `[skills.NAME]`: known keys, and environment variables in capitals, whose text is kept exactly as written (U3).
 */
const skill = z.codec(
  z
    .object(skillShape)
    .catchall(z.unknown())
    .superRefine(
      (table, context) => {
        for (const [key, value] of Object.entries(table)) {
          if (key in skillShape) continue;
          if (!isVariable(key)) {
            context.addIssue({ code: 'unrecognized_keys', keys: [key] });
          } else if (typeof value !== 'string') {
            context.addIssue({
              code: 'custom',
              path: [key],
              message: 'an environment variable is text: write it in quotes',
            });
          } else if (steersPrograms(key)) {
            const message =
              "skills can't get this variable, because it decides what code programs load: remove it";
            context.addIssue({ code: 'custom', path: [key], message });
          }
        }
      },
      { when: ({ value }) => typeof value === 'object' && value !== null },
    ),
  z.custom<SkillTable>(),
  {
    decode: (table) => {
      const entries = Object.entries(table);
      const known = Object.fromEntries(entries.filter(([key]) => !isVariable(key)));
      const env = Object.fromEntries(entries.filter(([key]) => isVariable(key)));
      return { ...renameKeys(known, toCamel), env } as SkillTable;
    },
    encode: ({ env, ...known }) => ({ ...renameKeys(known, toSnake), ...env }),
  },
);

const source = section(
  {
    repo: z.string().regex(repositoryName, { error: 'write "owner/name"' }).optional(),
    url: z
      .string()
      .superRefine((text, context) => {
        const read = readGitUrl(text);
        if (!read.ok) context.addIssue({ code: 'custom', message: read.problem });
      })
      .optional(),
    path: z.string().min(1).optional(),
    ref: z
      .string()
      .superRefine((text, context) => {
        const problem = refProblem(text);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      })
      .optional(),
  },
  (table, complain) => {
    const given = ['repo', 'url', 'path'].filter((key) => table[key] !== undefined);
    if (given.length !== 1) complain([], 'a source has exactly one of repo, url and path');
  },
);

const skillsShape = {
  enabled: z.boolean().default(true),
  strict: z.boolean().default(false),
  allowed_tools_enforcement: z.enum(['on', 'off']).default('on'),
  invalid_allowed_tools: z.enum(['error', 'baseline', 'ignore']).default('error'),
  user_dir: z.string().min(1).default('~/.skillet/skills'),
  agents_dir: z.string().min(1).optional(),
  bundled: z.boolean().default(true),
  auto_sync: z.boolean().default(false),
  update_interval_minutes: z.int().min(1).default(1440),
  max_bytes: z.int().min(1_000).max(mostBytes).default(bytesRead),
  defaults: section({ allow_chat_ids: z.array(chatId).default([]) }).prefault({}),
  sources: z.array(source).default([]),
};
type SkillsKeys = CamelKeys<z.output<z.ZodObject<typeof skillsShape>>>;
type SkillsTable = SkillsKeys & { byName: Record<string, SkillTable> };

/** Names that no skill can have in the config, because they are keys of `[skills]` itself (G4). */
export const reservedSkillNames: readonly string[] = Object.keys(skillsShape);

export const skillsSection = z.codec(
  z
    .object(skillsShape)
    .catchall(skill)
    .superRefine(
      (table, context) => {
        // A misspelt `defaults` would silently lift a restriction from every skill.
        for (const key of Object.keys(table).filter(
          (key) => /^default[s_-]?$/i.test(key) && key !== 'defaults',
        )) {
          const message =
            'no skill may have this name: for what holds for all skills write [skills.defaults]';
          context.addIssue({ code: 'custom', path: [key], message });
        }
      },
      { when: ({ value }) => typeof value === 'object' && value !== null },
    ),
  z.custom<SkillsTable>(),
  {
    decode: (table) => {
      const entries = Object.entries(table);
      const known = Object.fromEntries(entries.filter(([key]) => key in skillsShape));
      const byName = Object.fromEntries(entries.filter(([key]) => !(key in skillsShape)));
      return { ...renameKeys(known, toCamel), byName } as SkillsTable;
    },
    encode: ({ byName, ...known }) => ({ ...renameKeys(known, toSnake), ...byName }) as never,
  },
);
