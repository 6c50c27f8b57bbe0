import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import { fail, succeed, type Envelope } from '../../core/envelope.ts';
import { createMutex } from '../../lib/async/mutex.ts';
import type { Log } from '../../lib/log.ts';
import type { WordOrigin, Provenance } from '../../core/provenance.ts';
import type { Requester } from '../../core/tool.ts';
import { checkDraft, isThere, prepareDraft, type SkillDraft } from '../../skills/prepare-draft.ts';
import { hashSkill } from '../../skills/install/hash-skill.ts';
import { readSkillFile, listSkillFiles } from '../../skills/skill-files.ts';
import type { Registry } from '../../skills/registry.ts';
import type { WrittenSkill, WrittenSkills } from '../../skills/written-skills.ts';
import type { SkillWriting } from './skill-authoring.ts';
import type { ToolTable } from '../../core/built-in-tools.ts';
import { parseAllowedTools } from '../../tools/allowed-tools.ts';
import type { CommandTable } from '../../core/chat-commands.ts';
import type { AskAboutSkill } from './ask-about-skill.ts';
import type { Actor } from '../../core/message.ts';

/** How many skills may wait for approval, so that owners do not get too many questions. */
const mostWaiting = 20;

/**
 * Writes a checked skill atomically into `root` and asks the owners (D9). It changes only what the bot wrote, and only
 * for the person it was written for or those who may enable it.
 */
export function createWriteSkill(options: {
  root: string;
  written: WrittenSkills;
  rescan(): Promise<Registry>;
  mayApprove(sender: string): Promise<boolean>;
  ask: AskAboutSkill;
  /** Names of tools that are not built in. */
  otherTools(): readonly string[];
  chatCommands: CommandTable;
  builtInTools: ToolTable;
  clock: Clock;
  log: Log;
}): SkillWriting {
  const {
    root,
    written,
    rescan,
    mayApprove,
    ask,
    otherTools,
    chatCommands: commands,
    builtInTools,
    clock,
    log,
  } = options;
  const inTurn = createMutex();
  const folderOf = (name: string): string => path.join(root, name);

  /**
   * The record of a skill that may be overwritten, or an envelope that says why it may not. Undefined: the name is
   * free.
   */
  async function claim(name: string, sender: string): Promise<WrittenSkill | undefined | Envelope> {
    const record = await written.get(name);
    if (record === undefined) {
      const isTaken = (await rescan()).has(name) || (await isThere(folderOf(name)));
      return isTaken ? taken(name) : undefined;
    }
    if (record.by !== personHash(sender) && !(await mayApprove(sender))) return taken(name);
    const now = hashSkill(folderOf(name))?.hash;
    if (now === undefined ? await isThere(folderOf(name)) : !record.hashes.includes(now)) {
      return fail(
        'TOOL_FAILED',
        `${name} was changed by hand since it was written, so it is not overwritten. The person who changed it has to continue, or choose another name.`,
      );
    }
    return record;
  }

  async function waitingCount(): Promise<number> {
    const records = [...(await written.all()).values()];
    return records.filter(
      ({ name, approved }) => approved === undefined || hashSkill(folderOf(name))?.hash !== approved,
    ).length;
  }

  async function write(draft: SkillDraft, requester: Requester, of: Provenance): Promise<Envelope> {
    const { name } = draft;
    await written.bring(root);
    const checked = check(draft, { elsewhere: otherTools(), commands, builtInTools });
    if (checked.problems.length > 0) return fail('ARGUMENTS_INVALID', problemText(checked));
    const record = await claim(name, requester.sender);
    if (record !== undefined && 'ok' in record) return record;
    if (record === undefined && (await waitingCount()) >= mostWaiting)
      return fail(
        'LIMIT_REACHED',
        `${mostWaiting} skills wait for approval already: an owner has to decide over those first`,
      );
    const now = hashSkill(folderOf(name))?.hash;
    const prepared = await prepareDraft(root, draft);
    const isSame = prepared.hash === now;
    const next: WrittenSkill = {
      name,
      // The old version is in use until the switch.
      hashes: [prepared.hash, ...(now === undefined || isSame ? [] : [now])],
      by: record?.by ?? personHash(requester.sender),
      at: isSame && record !== undefined ? record.at : clock.now(),
      approved: record?.approved === undefined ? undefined : record.approved,
      from: originOf(of, record),
    };
    // The record comes before the files, so that they are never taken for a person's own.
    await written.set(next);
    await written.askers.set(name, askerOf(requester));
    if (isSame) await prepared.discard();
    else await prepared.switchIn(now !== undefined && now === record?.approved);
    await rescan();
    log.info({ skill: name, hash: prepared.hash, sender: requester.sender }, 'the bot wrote a skill');
    const notes = checked.warnings.map((warning) => `\n- note: ${warning}`).join('');
    if (next.approved === prepared.hash)
      return succeed(`${name} is exactly what was enabled before, so it is in use.${notes}`);
    await ask(next, requester);
    return succeed(
      `${name} is written and stays off until an owner of the bot enables it; they were asked and see all of it. ` +
        `Tell the person so, and that ${name} can be used once it is enabled.${notes}`,
    );
  }

  return {
    write: (draft, requester, from) => inTurn(() => write(draft, requester, from)),
    async read(name, file, { sender }) {
      const record = await written.get(name);
      if (record === undefined || (record.by !== personHash(sender) && !(await mayApprove(sender))))
        return fail('SKILL_NOT_FOUND', `no skill "${name}" was written for this person with skill_write`);
      const directory = folderOf(name);
      const found = readSkillFile({ directory }, file ?? 'SKILL.md');
      if (!found.ok) return fail(found.code, found.message);
      if (file !== undefined) return succeed(found.text);
      const { files } = listSkillFiles({ directory });
      return succeed(`${found.text}\n\n[other files: ${files.join(', ') || 'none'}]`);
    },
  };
}

/** Whose words the skill has after a change. If the person typed the change, the rest is still not their own (S13). */
function originOf({ words, by }: Provenance, before: WrittenSkill | undefined): WordOrigin {
  return words === 'typed' && before !== undefined && before.from?.words !== 'typed'
    ? before.from
    : { words, by };
}

function askerOf({ conversation, chatType, external, ...person }: Requester): Actor {
  const { sender: id, name = '', kind, language } = person;
  return { conversation, chatType, external, sender: { id, name, kind, language } };
}

/** A hash that does not reveal the person. */
function personHash(sender: string): string {
  return createHash('sha256').update(sender).digest('hex');
}

type Checked = Readonly<{ problems: readonly string[]; warnings: readonly string[] }>;

function check(
  draft: SkillDraft,
  {
    elsewhere,
    commands,
    builtInTools,
  }: Readonly<{ elsewhere: readonly string[]; commands: CommandTable; builtInTools: ToolTable }>,
): Checked {
  const { problems, warnings, allowedTools } = checkDraft(draft);
  const parsed = parseAllowedTools(allowedTools, builtInTools.names(), {
    builtInTools,
    invalid: 'error',
    elsewhere,
  });
  return {
    problems: [
      ...problems,
      ...(commands.row(draft.name) !== undefined ? [`name: /${draft.name} is a command of the bot`] : []),
      ...(parsed.ok ? [] : [`SKILL.md: ${parsed.message}`]),
    ],
    warnings: [...warnings, ...parsed.warnings.map(({ message }) => message)],
  };
}

function problemText({ problems, warnings }: Checked): string {
  const lines = [...problems, ...warnings.map((warning) => `(warning) ${warning}`)];
  return `nothing was written. Fix all of this and write it again:\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

/** The answer is the same for every reason, because names may be secret here (A11). */
function taken(name: string): Envelope {
  return fail('ARGUMENTS_INVALID', `the name "${name}" is taken: choose another`);
}
