import type { Filled } from '../core/form.ts';
import type { Log } from '../lib/log.ts';
import type { Tool } from '../core/tool.ts';
import { placeOf, type ChangeSetting } from './change-setting.ts';
import { inlineCode } from '../lib/text/inline-code.ts';
import { mayNotChange, othersMenu, readAction } from './setting-actions.ts';
import { showSetting } from './setting-text.ts';
import { valueOf } from './setting-views.ts';
import { formChanges, type HoldsSecret } from './settings-form.ts';
import type { SettingsInForce } from './settings-in-force.ts';
import { toolTitle } from '../tools/tool-title.ts';
import type { Voice } from '../replies/replies.ts';

/** Sets what a form says and tells the chat; else gives what is wrong, by key. Where a value by itself is wrong, none is set. */
export type TakeForm = (filled: Filled) => Promise<Readonly<Record<string, string>> | undefined>;

export function createTakeForm(options: {
  /** By the tool's short name. */
  find(tool: string): Readonly<{ tool?: Tool }>;
  mayChange(sender: string): Promise<boolean>;
  inForce: Pick<SettingsInForce, 'of'>;
  change: ChangeSetting;
  holdsSecret: HoldsSecret;
  voice: Pick<Voice, 'say'>;
  log: Log;
}): TakeForm {
  const { find, mayChange, inForce, change, holdsSecret, voice, log } = options;

  return async (filled) => {
    const { action, conversation, chatType, sender, values } = filled;
    const sent = readAction(action);
    const { tool } = sent?.does.view === 'tool' ? find(sent.does.tool) : {};
    const [first] = Object.keys(values);
    if (tool === undefined)
      return first === undefined ? undefined : { [first]: 'This tool no longer exists.' };
    const refused = (await mayChange(sender.id)) ? othersMenu(sent?.menu, filled) : mayNotChange;
    if (refused !== undefined) {
      log.warn({ sender: sender.id }, 'somebody sent a form of settings that is not theirs');
      return { [tool.settings?.fields[0]?.key ?? '']: refused };
    }
    const changes = formChanges(tool, await inForce.of(conversation, tool), values, holdsSecret);
    const problems = changes.flatMap(([{ key }, value]) => {
      const checked = value === undefined ? undefined : tool.settings?.check(key, value);
      return checked?.ok === false ? [[key, `Please ${checked.problem}.`] as const] : [];
    });
    if (problems.length > 0) return Object.fromEntries(problems);
    const done: string[] = [];
    for (const [field, value] of changes) {
      const place = placeOf({ conversation, chatType, sender: sender.id });
      const problem = await change(place, tool, field, value);
      if (problem !== undefined) return { [field.key]: `Please ${problem}.` };
      const now = showSetting(field, valueOf(field, await inForce.of(conversation, tool)));
      done.push(`- ${field.title}: ${now}${value === undefined ? ', no longer set in this chat' : ''}`);
    }
    if (done.length === 0) return undefined;
    const text = [`${toolTitle(tool)}, set in this chat by ${inlineCode(sender.name)}:`, '', ...done];
    await voice.say(conversation, filled.id, text.join('\n'));
    return undefined;
  };
}
