import { decideSkill, type SkillUse } from '../access/decide-skill.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import type { ToolTable } from '../core/built-in-tools.ts';
import type { Diagnostic } from '../core/codes.ts';
import { requesterOf, type Message } from '../core/message.ts';
import type { Skill } from '../core/skill.ts';
import { fixed, sayIn, type Fixed, type Say } from '../core/texts/say.ts';
import { serverToolPrefix, type Risk, type Tool } from '../core/tool.ts';
import type { Feature } from '../core/feature.ts';
import { oneLine } from '../lib/text/text.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { SkillLibrary } from '../skills/skill-library.ts';
import { unknownEntries } from './allowed-tools.ts';
import { unknownDisallowed } from './disallowed-tools.ts';
import { mainTools } from './main-tools.ts';
import type { OutsideTools } from './outside-tools.ts';
import { decidePolicy, riskInSandbox, riskOf } from './policy.ts';
import { toolTitle } from './tool-title.ts';

/** Returns the answer to `/tools` as Markdown, without hidden tools (I3, X2). */
export type ListTools = (message: Message) => Promise<string>;

type Shown = Readonly<{ name: string; title: string; says: string; risk: Risk }>;

export function createListTools(options: {
  runtime: () => RuntimeConfig;
  library: SkillLibrary;
  accessOf(message: Message): Promise<SkillUse>;
  outside: OutsideTools;
  sandbox: Sandbox;
  builtInTools: ToolTable;
  /** Called only when something is said. */
  features(): readonly Feature[];
}): ListTools {
  const { runtime, library, accessOf, outside, sandbox, builtInTools, features } = options;
  /** Tools that runs are offered unless their skill's list says otherwise. */
  const ofRuns = builtInTools.names(({ runs }) => runs === 'kept' || runs === 'default');
  const inSandbox = riskInSandbox({ mode: sandbox.mode, reachesNetwork: false });

  function builtIn(name: string, say: Say): readonly Shown[] {
    const row = builtInTools.row(name);
    if (row === undefined || row.inner === true) return [];
    const risk = row.risk === 'sandbox' ? inSandbox : row.risk;
    return [{ name, title: toolTitle({ name, row }, say), says: say(row.says), risk }];
  }

  return async (message) => {
    const { config, rules } = runtime();
    const say = sayIn(message.sender.language);
    const requester = requesterOf(message);
    const use = await accessOf(message);
    const usable = library.current().skills.filter((skill) => decideSkill(skill, rules, use).allowed);
    const useless = new Set([
      ...(usable.length > 0 ? [] : builtInTools.names(({ ofSkills }) => ofSkills === true)),
      ...features().flatMap((feature) => feature.withoutUse?.(usable) ?? []),
    ]);
    const show = (names: readonly string[], tools: readonly Tool[]): readonly Shown[] => [
      ...names.filter((name) => !useless.has(name)).flatMap((name) => builtIn(name, say)),
      ...tools.flatMap((tool) => outsideTool(tool, say)),
    ];
    const main = show(mainTools(config, builtInTools), await outside.offered(requester, 'main'));
    const listed = new Set(main.map(({ name }) => name));
    const inRuns = usable.length === 0 ? [] : show(ofRuns, await outside.offered(requester, 'run'));
    const more = inRuns.filter(({ name }) => !listed.has(name));
    const line = ({ name, title, says, risk }: Shown): string => {
      const { action } = decidePolicy(config.policy, { tool: name, risk, requester, marked: false });
      return `- ${title} \`${name}\` ${badges[risk]} ${say(risks[risk])}${{ allow: '', confirm: `, ${say`asks first`}`, deny: `, ${say`not allowed`}` }[action]}: ${says}`;
    };
    return [
      ...(main.length === 0
        ? [say`I have no tools here.`]
        : [say`What I can use here:`, '', ...main.map(line)]),
      ...(more.length === 0 ? [] : ['', say`What skills can use as well:`, '', ...more.map(line)]),
    ].join('\n');
  };
}

const risks: Readonly<Record<Risk, Fixed>> = {
  safe: fixed`safe`,
  moderate: fixed`moderate`,
  dangerous: fixed`dangerous`,
  critical: fixed`critical`,
};

const badges: Readonly<Record<Risk, string>> = {
  safe: '🟢',
  moderate: '🟡',
  dangerous: '🟠',
  critical: '🔴',
};

function outsideTool(tool: Tool, say: Say): readonly Shown[] {
  if (tool.about?.hidden === true) return [];
  const says = oneLine(tool.description.replace(/[`*_[\]<>|\\#~]/g, ''), 100);
  return [{ name: tool.name, title: toolTitle(tool, say), says, risk: riskOf(tool) }];
}

/**
 * Warns of unknown names in `allowed_tools` and `disallowed_tools` (T5). Names of MCP tools are trusted, because they
 * are known only while the servers run.
 */
export function listedToolDiagnostics(
  skills: readonly Skill[],
  {
    plugins,
    hasServers,
    builtInTools,
  }: Readonly<{ plugins: readonly string[]; hasServers: boolean; builtInTools: ToolTable }>,
): readonly Diagnostic[] {
  return skills.flatMap((skill) => {
    const { path, allowedTools = [] } = skill;
    const judged = allowedTools.filter((entry) => !hasServers || !entry.startsWith(serverToolPrefix));
    const ofList = unknownEntries(judged, plugins, builtInTools).map(({ code, message }) => ({
      level: 'warning' as const,
      code,
      message,
      path,
      field: 'allowed_tools',
    }));
    return [...ofList, ...unknownDisallowed(skill, plugins, builtInTools)];
  });
}
