import { oneLine } from '../core/text.ts';
import type { Tool } from '../core/tool.ts';

/** What people see a tool called: its icon and its name for people, `web_search` as `Web search` where it has none (X2). */
export function toolTitle({ name, about }: Pick<Tool, 'name' | 'about'>): string {
  const words = name.replaceAll('_', ' ').trim();
  const title = about?.displayName ?? words.charAt(0).toUpperCase() + words.slice(1);
  const icon = about?.icon === undefined ? '' : `${oneLine(about.icon, 8)} `;
  // Outside tools name themselves: what would be read as Markdown is left out.
  return `${icon}${oneLine(title, 60)}`.replace(/[`*_[\]<>|\\#~]/g, '');
}
