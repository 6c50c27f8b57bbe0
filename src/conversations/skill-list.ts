import type { Button } from '../core/channel.ts';
import type { Skill } from '../core/skill.ts';
import { oneLine } from '../lib/text/text.ts';
import type { Say } from '../core/texts/say.ts';

/** How a command is written where the list is read. */
export type WriteHere = (name: string, args?: string) => string;

export function describeSkill(skill: Skill, write: WriteHere): string {
  return `${write(skill.name, skill.argumentHint ?? '')}: ${oneLine(skill.description, 300)}`;
}

/** The skills that somebody may use, each with the command to type. */
export function listSkills(skills: readonly Skill[], write: WriteHere, say: Say): string {
  if (skills.length === 0) return say`No skill is available to you here.`;
  const shown = skills
    .slice(0, 50)
    .map((skill) => `- ${write(skill.name, '')} ${oneLine(skill.description, 100)}`);
  const more = skills.length > 50 ? [`- ${say`and ${skills.length - 50} more`}`] : [];
  return [say`Skills you can use here:`, '', ...shown, ...more].join('\n');
}

/** A button for each skill whose name fits into an action. */
export function startButtons(skills: readonly Skill[]): readonly Button[] {
  return skills
    .map(({ name }) => ({ label: name, action: `run:${name}` }))
    .filter(({ action }) => Buffer.byteLength(action) <= 64);
}
