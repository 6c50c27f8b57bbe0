import { fixed } from '../core/texts/say.ts';
import type { SettingProblem, SettingValues, ToolSettings } from '../core/tool-settings.ts';

/** Who says what a setting is; what neither says is at its default (X3). */
export type SettingLayer = 'config' | 'chat';

/** A tool's settings as they hold in one chat. */
export type LayeredSettings = Readonly<{
  /** By key, as they were written; without those at their default. */
  values: SettingValues;
  from: ReadonlyMap<string, SettingLayer>;
  /** What stands in a layer and can't be used: what is below it holds. No value is told. */
  problems: readonly Readonly<SettingProblem & { layer: SettingLayer }>[];
}>;

/** Lays what a chat says over what config says (X3). A value that its tool does not take is passed over, never a fault. */
export function layerSettings(
  settings: ToolSettings,
  config: SettingValues,
  chat: SettingValues,
): LayeredSettings {
  const below = lay(settings, 'config', config, nothing);
  const above = lay(settings, 'chat', chat, below);
  if (settings.resolve(above.values).ok) return above;
  // Each value is fine and all together are not: that of the chat gives way, then that of config.
  const without = (given: LayeredSettings, layer: SettingLayer): LayeredSettings => ({
    ...given,
    problems: [...above.problems, { layer, problem: fixed`its values can’t be combined` }],
  });
  if (settings.resolve(below.values).ok) return without(below, 'chat');
  if (settings.resolve({}).ok) return without(nothing, 'config');
  // Something is not set at all: the tool says what when it is called.
  return above;
}

const nothing: LayeredSettings = { values: {}, from: new Map(), problems: [] };

function lay(
  settings: ToolSettings,
  layer: SettingLayer,
  given: SettingValues,
  below: LayeredSettings,
): LayeredSettings {
  const values: Record<string, unknown> = { ...below.values };
  const from = new Map(below.from);
  const problems = [...below.problems];
  for (const { key } of settings.fields) {
    if (given[key] === undefined) continue;
    const checked = settings.check(key, given[key]);
    if (checked.ok) {
      values[key] = checked.value;
      from.set(key, layer);
    } else problems.push({ layer, key, problem: checked.problem });
  }
  return { values, from, problems };
}
