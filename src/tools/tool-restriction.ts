import type { ToolTable } from '../core/built-in-tools.ts';
import type { ActiveSkill } from '../core/entry.ts';
import { fail, type Envelope } from '../core/envelope.ts';
import { mostBytes, type Skill } from '../core/skill.ts';
import type { Log } from '../lib/log.ts';
import { escapeLabels, labelled } from '../lib/text/escape-labels.ts';
import { truncate } from '../lib/text/text.ts';
import type { FilledBody } from '../skills/registry.ts';
import {
  limitAllowedTools,
  knownTools,
  type AllowedTools,
  type AllowedToolsResult,
  type CallLimits,
} from './allowed-tools.ts';
import { readDisallowed, type Disallowed } from './disallowed-tools.ts';

/** Tools that `[agent] tools` leaves out. The main agent has them only while it follows certain skills (U8). */
export type LentTools = Readonly<{
  names: ReadonlySet<string>;
  /** Names of the tools that it has through this skill. */
  by(activeSkill: ActiveSkill): readonly string[];
}>;

type Judged =
  | Readonly<{ ok: true; activeSkill: ActiveSkill; warnings: Envelope['warnings'] }>
  | Readonly<{ ok: false; envelope: Envelope }>;

/**
 * What the main agent may call: once it follows skills, only tools that all their lists allow, until the turn ends
 * (T6).
 */
export type ToolRestriction = CallLimits &
  Readonly<{
    activeSkills(): readonly ActiveSkill[];
    /** Tools of the main agent before any list applies, while it follows this skill as well (U8). */
    offered(activeSkill?: ActiveSkill): readonly string[];
    /**
     * Whether the skill can be followed, and with which warnings. Only `activate` binds the turn, once the entry is
     * stored.
     */
    judge(skill: Skill): Judged;
    /** Applies the skill's lists from the next call on. */
    activate(activeSkill: ActiveSkill): void;
  }>;

type Invalid = 'error' | 'baseline' | 'ignore';

type RestrictionOptions = Readonly<{
  tools(): readonly string[];
  elsewhere(): readonly string[];
  lent: LentTools;
  builtInTools: ToolTable;
  settings(): Readonly<{ enforcement: 'on' | 'off'; invalid: Invalid }>;
  /** The skill as its file is now: an edit that takes rights away applies at once (D7). */
  now(skill: string): Pick<Skill, 'allowedTools' | 'disallowedTools'> | undefined;
  log: Log;
}>;

export function createToolRestriction(options: RestrictionOptions): ToolRestriction {
  const { settings, log } = options;
  const active: ActiveSkill[] = [];
  const { offered, limit, lists, disallowed, within } = createLimits(active, options);
  const report = (skill: string, policy: Omit<PolicyChange, 'skill' | 'mode'>): void =>
    reportPolicy({ skill, mode: settings().enforcement, ...policy }, log);

  return {
    get names() {
      return within(lists());
    },
    get commands() {
      return lists().find(({ commands }) => commands !== undefined)?.commands;
    },
    allows: (name, input) =>
      offered().includes(name) &&
      lists().every((each) => each.allows(name, input)) &&
      !disallowed().call(name, input),
    activeSkills: () => [...active],
    offered: (activeSkill) => offered(...(activeSkill === undefined ? [] : [activeSkill])),
    judge({ name, allowedTools, disallowedTools }) {
      const { enforcement, invalid } = settings();
      const bare: ActiveSkill = isList(disallowedTools) ? { skill: name, disallowedTools } : { skill: name };
      if (!isList(allowedTools)) return { ok: true, activeSkill: bare, warnings: [] };
      const activeSkill: ActiveSkill = { ...bare, allowedTools };
      if (enforcement === 'off') {
        report(name, { enforced: false, allowed: offered(activeSkill).length, ignoredReason: 'OFF' });
        return { ok: true, activeSkill, warnings: [] };
      }
      const limited = limit(allowedTools, invalid, offered(activeSkill));
      if (!limited.ok)
        return { ok: false, envelope: fail(limited.code, escapeLabels(`${name}: ${limited.message}`)) };
      if (limited.warnings.some(({ code }) => code === 'ALLOWED_TOOLS_IGNORED')) {
        report(name, { enforced: false, allowed: within(lists()).length, ignoredReason: 'NO_MATCHES' });
        return { ok: true, activeSkill: bare, warnings: limited.warnings };
      }
      const allowed = within([...lists(), limited], disallowed(disallowedTools), offered(activeSkill));
      report(name, { enforced: true, allowed: allowed.length, ignoredReason: null });
      const message = `until the end of this turn you may call only: ${allowed.join(', ') || 'nothing'}`;
      return {
        ok: true,
        activeSkill,
        warnings: [...limited.warnings, { code: 'ALLOWED_TOOLS_ENFORCED', message }],
      };
    },
    activate: (activeSkill) => void active.push(activeSkill),
  };
}

/** What the lists of the skills in `active`, which grows, leave to the main agent. */
function createLimits(
  active: readonly ActiveSkill[],
  { tools, elsewhere, lent, builtInTools, settings, now }: RestrictionOptions,
) {
  const offered = (...more: readonly ActiveSkill[]): readonly string[] => {
    const through = new Set([...active, ...more].flatMap(lent.by));
    return tools().filter((name) => !lent.names.has(name) || through.has(name));
  };
  const limit = (list: readonly string[], invalid: Invalid, granted = offered()): AllowedToolsResult =>
    limitAllowedTools(list, {
      granted,
      baseline: granted.filter((name) => builtInTools.row(name)?.main === 'kept'),
      everything: granted,
      known: knownTools([...tools(), ...elsewhere()], builtInTools),
      invalid,
      whom: 'the main agent',
      builtInTools,
    });
  const edited = (skill: string, before: readonly string[] | undefined): readonly (readonly string[])[] => {
    const list = now(skill)?.allowedTools;
    return isList(list) && JSON.stringify(list) !== JSON.stringify(before) ? [list] : [];
  };
  const lists = (): readonly AllowedTools[] => {
    const { enforcement, invalid } = settings();
    if (enforcement === 'off') return [];
    const limited = active.flatMap(({ skill, allowedTools }) => [
      ...(isList(allowedTools) ? [limit(allowedTools, 'baseline')] : []),
      ...edited(skill, allowedTools).map((list) => limit(list, invalid === 'error' ? 'baseline' : invalid)),
    ]);
    return limited.filter((each) => each.ok);
  };
  /**
   * What active skills disallow, by their entries and by their files now. It holds even if allowed lists are not
   * enforced.
   */
  const disallowed = (more: readonly string[] = []): Disallowed =>
    readDisallowed([
      ...more,
      ...active.flatMap((one) => [
        ...(one.disallowedTools ?? []),
        ...(now(one.skill)?.disallowedTools ?? []),
      ]),
    ]);
  const within = (
    limited: readonly AllowedTools[],
    { tool } = disallowed(),
    granted = offered(),
  ): readonly string[] =>
    granted.filter((name) => limited.every(({ names }) => names.includes(name)) && !tool(name)).sort();
  return { offered, limit, lists, disallowed, within };
}

type PolicyChange = Readonly<{
  skill: string;
  mode: 'on' | 'off';
  enforced: boolean;
  /** How many tools are left. */
  allowed: number;
  ignoredReason: 'NO_MATCHES' | 'OFF' | null;
}>;

function reportPolicy({ skill, mode, enforced, allowed, ignoredReason }: PolicyChange, log: Log): void {
  const event = 'skills_allowed_tools_policy_changed';
  log.info({ event, mode, enforced, skill, allowSetCount: allowed, ignoredReason }, event);
}

function isList(list: readonly string[] | undefined): list is readonly string[] {
  return list !== undefined && list.length > 0;
}

/** How many characters instructions may have: the longest body that can be set, and what is around it. */
export const instructionsLimit = mostBytes + 40_000;

type Instructions =
  | Readonly<{
      ok: true;
      /** The instructions in a label that their content can't close. */
      text: string;
      truncated: boolean;
      activeSkill: ActiveSkill;
      warnings: Envelope['warnings'];
    }>
  | Readonly<{ ok: false; envelope: Envelope }>;

/** The instructions of a skill as the model reads them, and the tools that are left to it (U8, T6). */
export async function skillInstructions(
  skill: Skill,
  given: Readonly<{
    body: Promise<FilledBody>;
    maxBytes: number;
    change?: (body: Extract<FilledBody, { ok: true }>) => string;
    restriction: ToolRestriction;
  }>,
): Promise<Instructions> {
  const body = await given.body;
  if (!body.ok) return { ok: false, envelope: fail(body.code, body.message) };
  const judged = given.restriction.judge(skill);
  if (!judged.ok) return judged;
  const cut = truncate(escapeLabels(given.change?.(body) ?? body.text), given.maxBytes);
  const truncated = body.truncated || cut.truncated;
  const message = `the instructions of ${skill.name} are longer than ${given.maxBytes} bytes and were cut`;
  return {
    ok: true,
    text: labelled('instruction', cut.text, { skill: skill.name }),
    truncated,
    activeSkill: judged.activeSkill,
    warnings: [
      ...(truncated ? [{ code: 'CONTENT_TRUNCATED', message } as const] : []),
      // These messages quote the skill and are not escaped later.
      ...judged.warnings.map((warning) => ({ ...warning, message: escapeLabels(warning.message) })),
    ],
  };
}
