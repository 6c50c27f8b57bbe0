import { fixed, sayIn, type Fixed } from '../core/texts/say.ts';
import type { Risk, Tool } from '../core/tool.ts';
import { oneLine } from '../lib/text/text.ts';

/** A built-in tool as people read of it. */
export type AboutBuiltIn = Readonly<{
  icon: string;
  title: string;
  /** One sentence. */
  says: string;
  /** What a person who waits sees while it runs (U13). */
  doing: Fixed;
  /** `sandbox`: that of commands there (T7). */
  risk: Risk | 'sandbox';
  /** Comes with the others and means nothing by itself. */
  inner?: true;
}>;

/** Every built-in tool, for `/tools` (X2): what a model reads of them is made for each turn. */
export const aboutBuiltIn: Readonly<Record<string, AboutBuiltIn>> = {
  use_skill: {
    icon: '🧩',
    title: 'Skills',
    says: 'Hands a task to a skill.',
    doing: fixed`asking a skill`,
    risk: 'safe',
  },
  skills_list: {
    icon: '📋',
    title: 'List of skills',
    says: 'Looks at what skills there are.',
    doing: fixed`looking for a skill`,
    risk: 'safe',
  },
  skills_search: {
    icon: '🔎',
    title: 'Search of skills',
    says: 'Finds a skill for a task.',
    doing: fixed`looking for a skill`,
    risk: 'safe',
  },
  skills_load: {
    icon: '📖',
    title: 'Skill to follow',
    says: 'Follows what a skill says itself.',
    doing: fixed`reading a skill`,
    risk: 'safe',
  },
  skills_read_file: {
    icon: '📄',
    title: 'Files of skills',
    says: 'Reads what belongs to a skill.',
    doing: fixed`reading a skill`,
    risk: 'safe',
    inner: true,
  },
  skills_run_script: {
    icon: '⚙️',
    title: 'Scripts of a skill',
    says: 'Runs a script that belongs to the skill, in the sandbox.',
    doing: fixed`running a script`,
    risk: 'sandbox',
  },
  skill_write: {
    icon: '✍️',
    title: 'Writing skills',
    says: 'Writes a skill, off until somebody enables it.',
    doing: fixed`writing a skill`,
    risk: 'moderate',
  },
  skill_read: {
    icon: '📄',
    title: 'Reading skills',
    says: 'Reads a skill to change it.',
    doing: fixed`reading a skill`,
    risk: 'safe',
    inner: true,
  },
  bash: {
    icon: '💻',
    title: 'Commands',
    says: 'Runs commands in the sandbox.',
    doing: fixed`running a command`,
    risk: 'sandbox',
  },
  read_file: {
    icon: '📄',
    title: 'Reading files',
    says: 'Reads files of this conversation.',
    doing: fixed`reading a file`,
    risk: 'safe',
  },
  write_file: {
    icon: '📝',
    title: 'Writing files',
    says: 'Writes files of this conversation.',
    doing: fixed`writing a file`,
    risk: 'moderate',
  },
  list_files: {
    icon: '🗂',
    title: 'List of files',
    says: 'Looks at what files there are here.',
    doing: fixed`looking through the files`,
    risk: 'safe',
  },
  send_file: {
    icon: '📎',
    title: 'Sending files',
    says: 'Sends a file here.',
    doing: fixed`sending a file`,
    risk: 'moderate',
  },
  web_fetch: {
    icon: '🌐',
    title: 'Reading pages',
    says: 'Reads a page of the public internet.',
    doing: fixed`reading a web page`,
    risk: 'safe',
  },
  web_search: {
    icon: '🔍',
    title: 'Web search',
    says: 'Searches the web.',
    doing: fixed`searching the web`,
    risk: 'safe',
  },
  ask_person: {
    icon: '❓',
    title: 'Questions',
    says: 'Asks you something and continues with your answer.',
    doing: fixed`asking you a question`,
    risk: 'safe',
  },
  capability_list: {
    icon: '🔑',
    title: 'Linked systems',
    says: 'Looks at what a skill may reach for you.',
    doing: fixed`looking at the linked systems`,
    risk: 'safe',
    inner: true,
  },
  capability_invoke: {
    icon: '🔑',
    title: 'Linked systems',
    says: 'Works in a system you have linked, with your own account.',
    doing: fixed`working in a linked system`,
    risk: 'moderate',
  },
  capability_auth: {
    icon: '🔑',
    title: 'Linking',
    says: 'Links an account of yours.',
    doing: fixed`linking an account`,
    risk: 'moderate',
    inner: true,
  },
};

/** What a call does, for the person who waits (U13). Only the tool decides it: arguments may hold secrets. */
export function doingOf({ name }: Pick<Tool, 'name'>, language: string | undefined): string {
  const say = sayIn(language);
  const known = Object.hasOwn(aboutBuiltIn, name) ? aboutBuiltIn[name] : undefined;
  return known === undefined ? say`using ${oneLine(name.replaceAll('_', ' '), 60)}` : say(known.doing);
}

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
