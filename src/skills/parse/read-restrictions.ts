import type { Diagnostic } from '../../core/codes.ts';
import type { Skill } from '../../core/skill.ts';
import { looksRestricting } from './known-keys.ts';
import {
  kindOf,
  metadataDialects,
  readList,
  readText,
  readTools,
  type FrontMap,
  type FrontValue,
  type Read,
} from './read-values.ts';

type Restrictions = Pick<Skill, 'allowedTools' | 'disallowedTools' | 'whenToUse'>;

type Reading = Readonly<{
  /** Reads a field. Reports an invalid value, and returns undefined for it. */
  read<Value>(field: string, reader: (value: FrontValue) => Read<Value>): Value | undefined;
  report(diagnostic: Diagnostic): void;
}>;

/** The code of an error with which a skill loads, but is off until the config enables it (F11). */
export const restrictionNotKept = 'RESTRICTION_NOT_KEPT';

/**
 * Reads what keys of other programs take away from a skill (F11). `isOff`: one of them can't be obeyed here, and a
 * diagnostic names it.
 */
export function readRestrictions(
  fields: FrontMap,
  metadata: FrontMap,
  reading: Reading,
): Readonly<{ restrictions: Restrictions; isOff: boolean }> {
  const { read, report } = reading;
  const unkept = [...unknownRestrictions(fields, metadata), ...unkeptKeys(fields)];
  for (const { field, message } of unkept)
    report({
      level: 'error',
      code: restrictionNotKept,
      message: `${message}. The skill is off until the config says enabled = true in its table`,
      field,
      line: fields.get(field)?.line,
    });
  sayOthers(fields, unkept, report);
  const restrictions = {
    ...present('allowedTools', toolsOf(fields, reading)),
    ...present('disallowedTools', read('disallowed_tools', readForbidden)),
    ...present('whenToUse', whenOf(reading)),
  };
  return { restrictions, isOff: unkept.length > 0 };
}

type Unkept = Readonly<{ field: string; message: string }>;

function unknownRestrictions(fields: FrontMap, metadata: FrontMap): readonly Unkept[] {
  const found = (map: FrontMap, place: string): readonly string[] =>
    [...map].flatMap(([key, value]) => (looksRestricting(key, sourceOf(value)) ? [`${place}${key}`] : []));
  const below = metadataDialects.flatMap((dialect) => {
    const map = metadata.get(dialect);
    return map?.kind === 'map' ? found(map.entries, `metadata.${dialect}.`) : [];
  });
  return [...found(fields, ''), ...below].map((key) => ({
    field: below.includes(key) ? 'metadata' : key,
    message: `"${key}" seems to restrict the skill, and is not known here: say it by allowed-tools, disallowed-tools or another key that is read here`,
  }));
}

function unkeptKeys(fields: FrontMap): readonly Unkept[] {
  const mode = fields.get('permission_mode');
  const hooks = fields.get('hooks');
  const tools = fields.get('tools');
  return [
    ...(mode === undefined || (mode.kind === 'text' && grantingModes.has(mode.text.trim()))
      ? []
      : [
          {
            field: 'permission_mode',
            message: `permissionMode: ${kindOf(mode)} is not kept here: write disallowed-tools`,
          },
        ]),
    ...(hooks !== undefined && forbiddingHooks.some((event) => sourceOf(hooks).includes(event))
      ? [
          {
            field: 'hooks',
            message: 'hooks do not run here, and one of these can forbid a call: write disallowed-tools',
          },
        ]
      : []),
    ...(tools?.kind === 'map'
      ? [
          {
            field: 'tools',
            message: 'tools is a map, which is not kept here: write allowed-tools or disallowed-tools',
          },
        ]
      : []),
  ];
}

/** Reports keys that restrict nothing, or on which nothing depends here. */
function sayOthers(fields: FrontMap, unkept: readonly Unkept[], report: Reading['report']): void {
  const say = (field: string, level: 'warning' | 'note', code: string, message: string): void => {
    const value = fields.get(field);
    if (value === undefined || unkept.some((one) => one.field === field)) return;
    report({ level, code, message, field, line: value.line });
  };
  say('hooks', 'warning', 'HOOKS_NOT_RUN', 'hooks do not run here: remove them, or use [[policy.rules]]');
  say(
    'paths',
    'note',
    'PATHS_TOLD',
    'paths is told to the model with the description; a chat has no files of a project to match',
  );
}

/** Values of Claude Code's `permissionMode` that only spare questions. */
const grantingModes: ReadonlySet<string> = new Set([
  '',
  'default',
  'manual',
  'auto',
  'acceptEdits',
  'bypassPermissions',
]);

/** Events of Claude Code's hooks that can forbid something. */
const forbiddingHooks = ['PreToolUse', 'PermissionRequest', 'UserPromptSubmit', 'PermissionDenied'];

/** The tools that a skill allows. In agents of Claude Code, `tools` lists them; elsewhere it may name programs. */
function toolsOf(fields: FrontMap, { read }: Reading): readonly string[] | undefined {
  const allowed = read('allowed_tools', readTools);
  const tools = fields.get('tools');
  if (allowed !== undefined || tools === undefined) return allowed;
  const listed = readTools(tools);
  return listed.ok && listed.value.some(isToolName) ? listed.value : undefined;
}

function isToolName(entry: string): boolean {
  const [name = ''] = entry.split('(');
  return /^[A-Z][A-Za-z]+$|^mcp_|\*/.test(name) || ownNames.test(name.replaceAll('.', '_'));
}

/** Tools of this bot that are known under the key `tools` of other programs. Others are named in `allowed-tools`. */
const ownNames =
  /^(?:bash|subagent|ask_person|recall|remember|forget_memory|use_skill|(?:read|write|send)_file|(?:list|grep)_files|web_(?:fetch|search)|(?:skills?|routine|capability)_[a-z_]+)$/;

/** Reads a list of forbidden tools. A list of blanks forbids nothing, like an empty one. */
function readForbidden(value: FrontValue): Read<readonly string[]> {
  const list = readTools(value);
  return list.ok ? list : readList(value, /,/);
}

function whenOf({ read }: Reading): string | undefined {
  const paths = read('paths', (value) => readList(value, /[\s,]/));
  const when = read('when_to_use', readText);
  const parts = [
    ...(when === undefined || when === '' ? [] : [when.replace(/\s+/g, ' ')]),
    ...(paths === undefined || paths.length === 0 ? [] : [`For files such as ${paths.join(', ')}.`]),
  ];
  const points = [...parts.join(' ')];
  if (points.length === 0) return undefined;
  return points.length <= whenLimit ? points.join('') : `${points.slice(0, whenLimit - 1).join('')}…`;
}

/** How many code points the text about when to use a skill may have; a longer one is cut. */
const whenLimit = 1024;

function sourceOf(value: FrontValue): string {
  return value.kind === 'text' ? value.text : value.source;
}

function present<Key extends keyof Restrictions>(key: Key, value: Restrictions[Key]): Restrictions {
  return value === undefined ? {} : { [key]: value };
}
