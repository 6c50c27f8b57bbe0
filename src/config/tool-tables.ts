import { nearest } from '../lib/text/text.ts';
import type { ToolSettings } from '../core/tool-settings.ts';
import type { Config } from './complete-config.ts';
import { describeFound, formatConfigProblem, keyProblem } from './config-problem.ts';
import { formatKeyPath, type KeyPath } from './section.ts';
import type { locateKeys } from './locate-keys.ts';
import { placesIn } from './plugin-config.ts';
import { isSecretKey } from './secrets-of-config.ts';

/** A tool that can be set up, or none of whose settings can. */
export type SettableTool = Readonly<{ name: string; settings?: ToolSettings }>;

/**
 * What is wrong with `[tools.NAME]` of these tools (X3, G2): where, which key, what was found and what to write; no secret is in
 * it. Such a value is passed over: the default holds. Tables of other tools are not looked at.
 */
export function checkToolTables(
  config: Pick<Config, 'tools' | 'path' | 'fromEnvironment'>,
  tools: readonly SettableTool[],
): readonly string[] {
  const file = config.path;
  let placeOf: ReturnType<typeof locateKeys> | undefined;
  const problem = (path: KeyPath, found: string, write: string) => {
    placeOf ??= placesIn(file);
    return keyProblem({ file, place: placeOf(path), path }, found, write);
  };
  const ofTool = ({ name, settings }: SettableTool): readonly string[] => {
    const table: Readonly<Record<string, unknown>> = Object.hasOwn(config.tools, name)
      ? { ...config.tools[name] }
      : {};
    const known = (settings?.fields ?? []).map(({ key }) => key);
    return Object.entries(table).flatMap(([key, value]) => {
      const path: KeyPath = ['tools', name, key];
      const field = settings?.fields.find((one) => one.key === key);
      if (settings === undefined || field === undefined) {
        const message = `${formatKeyPath(path)} is not a known key: ${whatInstead(key, known)}`;
        return [formatConfigProblem({ ...problem(path, 'not a known key', ''), message })];
      }
      const checked = settings.check(key, value);
      if (checked.ok) return [];
      const variable = config.fromEnvironment.find(
        (one) => JSON.stringify(one.path) === JSON.stringify(path),
      );
      const found =
        variable === undefined
          ? describeFound(value, field.secret || isSecretKey(path), field.kind === 'select')
          : `the value of $${variable.name}`;
      return [formatConfigProblem(problem(path, found, checked.problem))];
    });
  };
  return tools.flatMap(ofTool);
}

function whatInstead(key: string, known: readonly string[]): string {
  const [guess] = nearest(key, known);
  if (guess !== undefined) return `did you mean ${guess}?`;
  return known.length === 0 ? 'this tool has no settings, so remove it.' : `known here: ${known.join(', ')}.`;
}
