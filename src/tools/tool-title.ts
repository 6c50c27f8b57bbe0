import { oneLine } from '../lib/text/text.ts';
import type { Tool } from '../core/tool.ts';
import { aboutBuiltIn } from './about-built-in.ts';

/** What people see a tool called: its icon and its name for people; `find_all` as `Find all` where it has none (X2). */
export function toolTitle({ name, about }: Pick<Tool, 'name' | 'about'>): string {
  const builtIn = Object.hasOwn(aboutBuiltIn, name) ? aboutBuiltIn[name] : undefined;
  if (builtIn !== undefined) return `${builtIn.icon} ${builtIn.title}`;
  const words = name.replaceAll('_', ' ').trim();
  const title = about?.displayName ?? words.charAt(0).toUpperCase() + words.slice(1);
  const icon = about?.icon === undefined ? '' : `${oneLine(about.icon, 8)} `;
  // Outside tools name themselves: what would be read as Markdown is left out.
  return `${icon}${oneLine(title, 60)}`.replace(/[`*_[\]<>|\\#~]/g, '');
}
