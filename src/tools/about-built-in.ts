import { fixed, sayIn, type Fixed, type Say } from '../core/texts/say.ts';
import type { Risk, Tool } from '../core/tool.ts';
import { oneLine } from '../lib/text/text.ts';

/** A built-in tool as people read of it. */
export type AboutBuiltIn = Readonly<{
  icon: string;
  title: Fixed;
  /** One sentence. */
  says: Fixed;
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
    title: fixed`Skills`,
    says: fixed`Hands a task to a skill.`,
    doing: fixed`asking a skill`,
    risk: 'safe',
  },
  skills_list: {
    icon: '📋',
    title: fixed`List of skills`,
    says: fixed`Looks at what skills there are.`,
    doing: fixed`looking for a skill`,
    risk: 'safe',
  },
  skills_search: {
    icon: '🔎',
    title: fixed`Search of skills`,
    says: fixed`Finds a skill for a task.`,
    doing: fixed`looking for a skill`,
    risk: 'safe',
  },
  skills_load: {
    icon: '📖',
    title: fixed`Skill to follow`,
    says: fixed`Follows what a skill says itself.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
  },
  skills_read_file: {
    icon: '📄',
    title: fixed`Files of skills`,
    says: fixed`Reads what belongs to a skill.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    inner: true,
  },
  skills_run_script: {
    icon: '⚙️',
    title: fixed`Scripts of a skill`,
    says: fixed`Runs a script that belongs to the skill, in the sandbox.`,
    doing: fixed`running a script`,
    risk: 'sandbox',
  },
  skill_write: {
    icon: '✍️',
    title: fixed`Writing skills`,
    says: fixed`Writes a skill, off until somebody enables it.`,
    doing: fixed`writing a skill`,
    risk: 'moderate',
  },
  skill_read: {
    icon: '📄',
    title: fixed`Reading skills`,
    says: fixed`Reads a skill to change it.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    inner: true,
  },
  bash: {
    icon: '💻',
    title: fixed`Commands`,
    says: fixed`Runs commands in the sandbox.`,
    doing: fixed`running a command`,
    risk: 'sandbox',
  },
  read_file: {
    icon: '📄',
    title: fixed`Reading files`,
    says: fixed`Reads files of this conversation.`,
    doing: fixed`reading a file`,
    risk: 'safe',
  },
  write_file: {
    icon: '📝',
    title: fixed`Writing files`,
    says: fixed`Writes files of this conversation.`,
    doing: fixed`writing a file`,
    risk: 'moderate',
  },
  list_files: {
    icon: '🗂',
    title: fixed`List of files`,
    says: fixed`Looks at what files there are here.`,
    doing: fixed`looking through the files`,
    risk: 'safe',
  },
  send_file: {
    icon: '📎',
    title: fixed`Sending files`,
    says: fixed`Sends a file here.`,
    doing: fixed`sending a file`,
    risk: 'moderate',
  },
  web_fetch: {
    icon: '🌐',
    title: fixed`Reading pages`,
    says: fixed`Reads a page of the public internet.`,
    doing: fixed`reading a web page`,
    risk: 'safe',
  },
  web_search: {
    icon: '🔍',
    title: fixed`Web search`,
    says: fixed`Searches the web.`,
    doing: fixed`searching the web`,
    risk: 'safe',
  },
  ask_person: {
    icon: '❓',
    title: fixed`Questions`,
    says: fixed`Asks you something and continues with your answer.`,
    doing: fixed`asking you a question`,
    risk: 'safe',
  },
  capability_list: {
    icon: '🔑',
    title: fixed`Linked systems`,
    says: fixed`Looks at what a skill may reach for you.`,
    doing: fixed`looking at the linked systems`,
    risk: 'safe',
    inner: true,
  },
  capability_invoke: {
    icon: '🔑',
    title: fixed`Linked systems`,
    says: fixed`Works in a system you have linked, with your own account.`,
    doing: fixed`working in a linked system`,
    risk: 'moderate',
  },
  capability_auth: {
    icon: '🔑',
    title: fixed`Linking`,
    says: fixed`Links an account of yours.`,
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
export function toolTitle({ name, about }: Pick<Tool, 'name' | 'about'>, say: Say): string {
  const builtIn = Object.hasOwn(aboutBuiltIn, name) ? aboutBuiltIn[name] : undefined;
  if (builtIn !== undefined) return `${builtIn.icon} ${say(builtIn.title)}`;
  const words = name.replaceAll('_', ' ').trim();
  const title = about?.displayName ?? words.charAt(0).toUpperCase() + words.slice(1);
  const icon = about?.icon === undefined ? '' : `${oneLine(about.icon, 8)} `;
  // Outside tools name themselves: what would be read as Markdown is left out.
  return `${icon}${oneLine(title, 60)}`.replace(/[`*_[\]<>|\\#~]/g, '');
}
