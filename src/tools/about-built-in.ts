import type { Risk } from '../core/tool.ts';

/** A built-in tool as people read of it. */
export type AboutBuiltIn = Readonly<{
  icon: string;
  title: string;
  /** One sentence. */
  says: string;
  /** `sandbox`: that of commands there (T7). */
  risk: Risk | 'sandbox';
  /** Comes with the others and means nothing by itself. */
  inner?: true;
}>;

/** Every built-in tool, for `/tools` (X2): what a model reads of them is made for each turn. */
export const aboutBuiltIn: Readonly<Record<string, AboutBuiltIn>> = {
  use_skill: { icon: '🧩', title: 'Skills', says: 'Hands a task to a skill.', risk: 'safe' },
  skills_list: { icon: '📋', title: 'List of skills', says: 'Looks at what skills there are.', risk: 'safe' },
  skills_search: { icon: '🔎', title: 'Search of skills', says: 'Finds a skill for a task.', risk: 'safe' },
  skills_load: {
    icon: '📖',
    title: 'Skill to follow',
    says: 'Follows what a skill says itself.',
    risk: 'safe',
  },
  skills_read_file: {
    icon: '📄',
    title: 'Files of skills',
    says: 'Reads what belongs to a skill.',
    risk: 'safe',
    inner: true,
  },
  skills_run_script: {
    icon: '⚙️',
    title: 'Scripts of a skill',
    says: 'Runs a script that belongs to the skill, in the sandbox.',
    risk: 'sandbox',
  },
  skill_write: {
    icon: '✍️',
    title: 'Writing skills',
    says: 'Writes a skill, off until somebody enables it.',
    risk: 'moderate',
  },
  skill_read: {
    icon: '📄',
    title: 'Reading skills',
    says: 'Reads a skill to change it.',
    risk: 'safe',
    inner: true,
  },
  bash: { icon: '💻', title: 'Commands', says: 'Runs commands in the sandbox.', risk: 'sandbox' },
  read_file: { icon: '📄', title: 'Reading files', says: 'Reads files of this conversation.', risk: 'safe' },
  write_file: {
    icon: '📝',
    title: 'Writing files',
    says: 'Writes files of this conversation.',
    risk: 'moderate',
  },
  list_files: {
    icon: '🗂',
    title: 'List of files',
    says: 'Looks at what files there are here.',
    risk: 'safe',
  },
  send_file: { icon: '📎', title: 'Sending files', says: 'Sends a file here.', risk: 'moderate' },
  web_fetch: {
    icon: '🌐',
    title: 'Reading pages',
    says: 'Reads a page of the public internet.',
    risk: 'safe',
  },
  web_search: { icon: '🔍', title: 'Web search', says: 'Searches the web.', risk: 'safe' },
  ask_person: {
    icon: '❓',
    title: 'Questions',
    says: 'Asks you something and continues with your answer.',
    risk: 'safe',
  },
  capability_list: {
    icon: '🔑',
    title: 'Linked systems',
    says: 'Looks at what a skill may reach for you.',
    risk: 'safe',
    inner: true,
  },
  capability_invoke: {
    icon: '🔑',
    title: 'Linked systems',
    says: 'Works in a system you have linked, with your own account.',
    risk: 'moderate',
  },
  capability_auth: {
    icon: '🔑',
    title: 'Linking',
    says: 'Links an account of yours.',
    risk: 'moderate',
    inner: true,
  },
};
