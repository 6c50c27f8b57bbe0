import { z } from 'zod';
import { accessSection } from './access-section.ts';
import { slackSection, telegramSection } from './channel-sections.ts';
import { checkModelSettings } from './check-model-settings.ts';
import { checkModelNames } from './model-aliases.ts';
import { agentProfile, agentSection, modelsSection, promptSection } from './model-sections.ts';
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
