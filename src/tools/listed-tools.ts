import type { Diagnostic } from '../core/diagnostic.ts';
import type { Skill } from '../core/skill.ts';
import { unknownEntries } from './ceiling.ts';

/**
 * Entries of skills' `allowed_tools` that name no tool (T5): built in, or one of `plugins`. What MCP servers bring is known
 * only while they run, so where there are any their names are taken as they are.
 */
export function listedToolDiagnostics(
  skills: readonly Pick<Skill, 'path' | 'allowedTools'>[],
  { plugins, hasServers }: Readonly<{ plugins: readonly string[]; hasServers: boolean }>,
): readonly Diagnostic[] {
  return skills.flatMap(({ path, allowedTools = [] }) => {
    const judged = allowedTools.filter((entry) => !hasServers || !entry.startsWith('mcp_'));
    return unknownEntries(judged, plugins).map(({ code, message }) => ({
      level: 'warning',
      code,
      message,
      path,
      field: 'allowed_tools',
    }));
  });
}
