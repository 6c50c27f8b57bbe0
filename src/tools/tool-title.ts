import { sayIn, type Say } from '../core/texts/say.ts';
import type { WorkStep } from '../core/plan.ts';
import type { ToolCall } from '../core/tool-call.ts';
import type { Requester, Tool } from '../core/tool.ts';
import { oneLine } from '../lib/text/text.ts';

/** A line about what a call is doing. It leaves out the arguments, because they may hold secrets (U13). */
export function doingOf({ name, row }: Tool, language: string | undefined): string {
  const say = sayIn(language);
  return row === undefined ? say`using ${oneLine(name.replaceAll('_', ' '), 60)}` : say(row.doing);
}

/** A tool's name for people: `find_all` becomes `Find all` unless it has a name of its own (X2). */
export function toolTitle({ name, row, about }: Pick<Tool, 'name' | 'row' | 'about'>, say: Say): string {
  if (row !== undefined) return `${row.icon} ${say(row.title)}`;
  const words = name.replaceAll('_', ' ').trim();
  const title = about?.displayName ?? words.charAt(0).toUpperCase() + words.slice(1);
  const icon = about?.icon === undefined ? '' : `${oneLine(about.icon, 8)} `;
  return `${icon}${oneLine(title, 60)}`.replace(/[`*_[\]<>|\\#~]/g, '');
}

/** Returns how to show a call as a step of a plan. Its title leaves the arguments out (U18). */
export function stepOf(
  { id, input }: ToolCall,
  tool: Tool,
  { requester: { language }, onStep }: Readonly<{ requester: Requester; onStep(step: WorkStep): void }>,
): (state: WorkStep['state']) => void {
  const started = tool.starts?.(input);
  const say = sayIn(language);
  const title =
    started === undefined ? toolTitle(tool, say) : `${tool.row?.icon ?? ''} ${oneLine(started, 60)}`.trim();
  const doing = doingOf(tool, language);
  return (state) =>
    onStep({ id, title: state === 'apart' ? say`${title}, in the background` : title, doing, state });
}
