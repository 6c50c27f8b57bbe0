import { builtInTool } from '../core/built-in-tools.ts';
import { sayIn, type Say } from '../core/texts/say.ts';
import type { Tool } from '../core/tool.ts';
import { oneLine } from '../lib/text/text.ts';

/** A line about what a call is doing. It leaves out the arguments, because they may hold secrets (U13). */
export function doingOf({ name }: Tool, language: string | undefined): string {
  const say = sayIn(language);
  const builtIn = builtInTool(name);
  return builtIn === undefined ? say`using ${oneLine(name.replaceAll('_', ' '), 60)}` : say(builtIn.doing);
}

/** A tool's name for people: `find_all` becomes `Find all` unless it has a name of its own (X2). */
export function toolTitle({ name, about }: Pick<Tool, 'name' | 'about'>, say: Say): string {
  const builtIn = builtInTool(name);
  if (builtIn !== undefined) return `${builtIn.icon} ${say(builtIn.title)}`;
  const words = name.replaceAll('_', ' ').trim();
  const title = about?.displayName ?? words.charAt(0).toUpperCase() + words.slice(1);
  const icon = about?.icon === undefined ? '' : `${oneLine(about.icon, 8)} `;
  return `${icon}${oneLine(title, 60)}`.replace(/[`*_[\]<>|\\#~]/g, '');
}
