import { randomUUID } from 'node:crypto';
import { decideSkill } from '../access/decide-skill.ts';
import type { AuditWriter } from '../audit/create-audit.ts';
import { skillChanges } from '../audit/audit-event.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { hostDiagnostics } from './host-diagnostics.ts';
import type { SkillRules } from '../core/access-settings.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import type { CommandTable } from '../core/chat-commands.ts';
import type { Channel } from '../core/channel.ts';
import type { MenuEntry, Menus } from '../core/menus.ts';
import type { ChatType } from '../core/conversation.ts';
import type { Diagnostic } from '../core/codes.ts';
import type { Skill } from '../core/skill.ts';
import { languages, sayIn } from '../core/texts/say.ts';
import type { Log } from '../lib/log.ts';
import { createNewSince, oneLine } from '../lib/text/text.ts';
import type { Registry } from '../skills/registry.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import { sourceDiagnostics } from '../skills/skill-sources.ts';
import type { Signals } from '../store/signals.ts';

type RefreshMenus = Readonly<{
  /** Sets the menus of all channels, and logs problems of skills. */
  show(): Promise<void>;
  /** Call after the skills changed. Sets the menus, and makes other processes read the skills again (Q9). */
  changed(registry: Registry): void;
  stop(): void;
}>;

export function createRefreshMenus(options: {
  library: SkillLibrary;
  runtime: () => RuntimeConfig;
  channels: ReadonlyMap<string, Channel>;
  signals: Signals;
  audit: AuditWriter;
  chatCommands: CommandTable;
  builtInTools: ToolTable;
  log: Log;
}): RefreshMenus {
  const {
    library,
    runtime,
    channels,
    signals,
    audit,
    chatCommands: commands,
    builtInTools: tools,
    log,
  } = options;
  let inForce = library.current().skills;
  const self = randomUUID();
  const isNew = createNewSince<Diagnostic>();
  const stop = signals.on('reload', (from) => {
    if (from !== self) library.rescan().catch(complain);
  });

  function complain(error: unknown): void {
    log.error({ err: error }, 'could not announce a change of skills everywhere');
  }

  async function show(): Promise<void> {
    const { skills } = library.current();
    const { config, models, rules } = runtime();
    const found = [
      ...sourceDiagnostics(config),
      ...hostDiagnostics(skills, config, { models, commands, tools }),
    ];
    for (const { level, code, message, path } of isNew(found)) {
      log[level === 'note' ? 'info' : 'warn']({ code, path }, message);
    }
    const chosen = config.bot.language;
    for (const language of [undefined, ...(chosen === 'auto' ? languages : [])]) {
      const menus = makeMenus(skills, rules, { language: language ?? chosen, commands });
      for (const channel of channels.values()) {
        try {
          const found = await channel.setMenus(menus, language);
          if (language === undefined)
            for (const { message } of found) log.warn({ channel: channel.name }, message);
        } catch (error) {
          log.warn({ err: error, channel: channel.name }, 'could not set the menus');
        }
      }
    }
  }

  return {
    show,
    changed({ skills }) {
      const change = skillChanges(inForce, skills);
      inForce = skills;
      if (change !== undefined) void audit.record(change);
      show().catch(complain);
      signals.send('reload', self).catch(complain);
    },
    stop,
  };
}

/** The menus of direct messages and of groups: commands, and the skills that anybody may use there (I1). */
export function makeMenus(
  skills: readonly Skill[],
  rules: SkillRules,
  { language, commands }: Readonly<{ language?: string; commands: CommandTable }>,
): Menus {
  const say = sayIn(language);
  const entries = (chatType: ChatType): readonly MenuEntry[] => [
    ...commands.names.flatMap((name) => {
      const { menu, alone } = commands.row(name) ?? {};
      return menu === undefined ? [] : [{ name, description: say(menu), alone }];
    }),
    ...skills
      .filter(({ name }) => commands.row(name) === undefined)
      .filter(
        (skill) =>
          decideSkill(skill, rules, { chatType, chatIds: [], external: false, sender: '', by: 'person' })
            .allowed,
      )
      .map(({ name, description, argumentHint }) => ({
        name,
        description: oneLine(description, 256),
        hint: argumentHint,
      })),
  ];
  return { private: entries('private'), group: entries('group') };
}
