import { randomUUID } from 'node:crypto';
import type { Channel } from '../core/channel.ts';
import type { Diagnostic } from '../core/diagnostic.ts';
import type { Log } from '../lib/log.ts';
import type { Registry } from '../skills/registry.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import type { Signals } from '../store/signals.ts';
import type { Audit } from '../audit/create-audit.ts';
import { skillChanges } from '../audit/skill-changes.ts';
import { createNewSince } from '../lib/text/added.ts';
import { hostDiagnostics } from './host-diagnostics.ts';
import type { Live } from '../config/runtime-config.ts';
import { makeMenus } from './make-menus.ts';
import { sourceDiagnostics } from '../skills/skill-sources.ts';
import { languages } from '../core/texts/say.ts';

/** What follows when skills or config change. */
export type FollowSkills = Readonly<{
  /** Sets the menus by what is in use now, and logs what is wrong with it. */
  show(): Promise<void>;
  /** A change was seen here: shows it, and has every other process look at its own files, which it may see change late or never (Q9). */
  changed(registry: Registry): void;
  /** Looks at nothing more for other processes. */
  stop(): void;
}>;

export function createFollowSkills(options: {
  library: Pick<SkillLibrary, 'current' | 'rescan'>;
  live: () => Pick<Live, 'config' | 'models' | 'rules'>;
  channels: ReadonlyMap<string, Channel>;
  signals: Signals;
  audit: Pick<Audit, 'record'>;
  log: Log;
}): FollowSkills {
  const { library, live, channels, signals, audit, log } = options;
  let inForce = library.current().skills;
  const self = randomUUID();
  const isNew = createNewSince<Diagnostic>();
  const stop = signals.on('reload', (from) => {
    // What is found changed is told on; where nothing is, the word ends.
    if (from !== self) library.rescan().catch(complain);
  });

  function complain(error: unknown): void {
    log.error({ err: error }, 'a change of skills did not get everywhere');
  }

  async function show(): Promise<void> {
    const { skills } = library.current();
    const { config, models, rules } = live();
    const found = [...sourceDiagnostics(config), ...hostDiagnostics(skills, config, models)];
    for (const { level, code, message, path } of isNew(found)) {
      log[level === 'note' ? 'info' : 'warn']({ code, path }, message);
    }
    const chosen = config.bot.language;
    for (const language of [undefined, ...(chosen === 'auto' ? languages : [])]) {
      const menus = makeMenus(skills, rules, language ?? chosen);
      for (const channel of channels.values()) {
        try {
          const found = await channel.setMenus(menus, language);
          // What can't be shown can't be shown in any language.
          if (language === undefined)
            for (const { message } of found) log.warn({ channel: channel.name }, message);
        } catch (error) {
          log.warn({ err: error, channel: channel.name }, 'the menus could not be set');
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
