import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../config/complete-config.ts';
import { OperatorError } from '../../core/errors.ts';
import { placeOfBundle } from '../../skills/install/bundle-place.ts';
import type { ConfigFinding, FindingReason } from '../kit.ts';
import type { McpSettings } from './mcp-settings.ts';

/**
 * The settings to start a server with. A server of a bundle gets the folders of that, and starts there, once all files
 * are those that were agreed to (F12). Throws OperatorError if they are not.
 */
export function settingsInPlace(
  settings: McpSettings,
  { dataDir, cwd }: Readonly<{ dataDir: string; cwd: string }>,
): Readonly<{ settings: McpSettings; cwd: string }> {
  if (settings.bundle === undefined) return { settings, cwd };
  const place = placeOfBundle(path.resolve(dataDir), settings.bundle);
  if (!place.ok) throw new OperatorError(place.problem);
  const { root, data } = place;
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const filled = (text: string): string =>
    text.replaceAll('${PLUGIN_ROOT}', root).replaceAll('${PLUGIN_DATA}', data);
  const command = filled(settings.command ?? '');
  if (
    settings.command?.includes('${PLUGIN_ROOT}') === true &&
    !path.normalize(command).startsWith(root + path.sep)
  )
    throw new OperatorError(`command = "${settings.command}" leads out of the bundle ${settings.bundle}`);
  const env = Object.fromEntries(Object.entries(settings.env).map(([name, value]) => [name, filled(value)]));
  const places = {
    ...{ PLUGIN_ROOT: root, PLUGIN_DATA: data, CLAUDE_PLUGIN_ROOT: root, CLAUDE_PLUGIN_DATA: data },
    // Compiled files beside the sources would count as a change.
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return {
    settings: { ...settings, command, args: settings.args.map(filled), env: { ...env, ...places } },
    cwd: root,
  };
}

/** Servers whose bundle is missing or changed, which do not start. */
export function bundleChecks({ mcp, bot }: Config): readonly ConfigFinding[] {
  return Object.entries(mcp).flatMap(([name, { bundle }]) => {
    const place = bundle === undefined ? undefined : placeOfBundle(path.resolve(bot.dataDir), bundle);
    if (place === undefined || place.ok) return [];
    const { code, problem } = place;
    const message = `the server ${name} does not start: ${problem}`;
    return [{ level: 'warning' as const, code, key: ['mcp', name, 'bundle'], message }];
  });
}

export const bundleReasons: Readonly<Record<string, FindingReason>> = {
  BUNDLE_MISSING: {
    why: 'A server of a bundle runs only with files that somebody agreed to.',
    fix: 'Install the source of the bundle with `skillet skill add`, or remove the section.',
  },
  BUNDLE_CHANGED: {
    why: 'Somebody or something changed the files since you agreed to them, so the server would run what nobody has looked at.',
    fix: 'Find out who wrote there. `skillet skill update NAME` puts the agreed files back.',
  },
};
