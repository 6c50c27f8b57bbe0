import { fixed, type Fixed } from './texts/say.ts';
import type { Risk } from './tool.ts';

/** How a list decides about a tool: `kept` always, `default` unless it leaves it out, `named` only if named. */
type Offer = 'kept' | 'default' | 'named';

type BuiltInTool = Readonly<{
  icon: string;
  title: Fixed;
  says: Fixed;
  /** What people read while it runs (U13). */
  doing: Fixed;
  /** `sandbox` means the risk that commands have there (T7). */
  risk: Risk | 'sandbox';
  /** Whether the main agent gets it, by `[agent] tools` (T2) and active skills (T6). Undefined: never. */
  main?: Offer;
  /** Whether runs get it, by the skill's `allowed_tools` (T5). Undefined: never. */
  runs?: Offer;
  /** The main agent also gets it while it follows an inline skill whose list names it (U8). */
  inline?: true;
  needs?: 'skills' | 'capabilities' | 'search' | 'memory';
  /** True if `/tools` leaves it out. */
  inner?: true;
}>;

/** The built-in tools in the order of `/tools`. */
const table: Readonly<Record<string, BuiltInTool>> = {
  use_skill: {
    icon: '🧩',
    title: fixed`Skills`,
    says: fixed`Hands a task to a skill.`,
    doing: fixed`asking a skill`,
    risk: 'safe',
    main: 'default',
    runs: 'named',
    needs: 'skills',
  },
  skills_list: {
    icon: '📋',
    title: fixed`List of skills`,
    says: fixed`Looks at what skills there are.`,
    doing: fixed`looking for a skill`,
    risk: 'safe',
    main: 'kept',
    needs: 'skills',
  },
  skills_search: {
    icon: '🔎',
    title: fixed`Search of skills`,
    says: fixed`Finds a skill for a task.`,
    doing: fixed`looking for a skill`,
    risk: 'safe',
    main: 'kept',
    needs: 'skills',
  },
  skills_load: {
    icon: '📖',
    title: fixed`Skill to follow`,
    says: fixed`Follows the instructions of a skill directly.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    main: 'kept',
    needs: 'skills',
  },
  skills_read_file: {
    icon: '📄',
    title: fixed`Files of skills`,
    says: fixed`Reads what belongs to a skill.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    main: 'kept',
    runs: 'kept',
    needs: 'skills',
    inner: true,
  },
  routine_add: {
    icon: '⏰',
    title: fixed`Routines`,
    says: fixed`Sets up reminders and tasks for later.`,
    doing: fixed`setting a reminder`,
    risk: 'safe',
    main: 'default',
  },
  routine_list: {
    icon: '⏰',
    title: fixed`List of routines`,
    says: fixed`Looks at what is set up.`,
    doing: fixed`looking at routines`,
    risk: 'safe',
    main: 'default',
    inner: true,
  },
  routine_change: {
    icon: '⏰',
    title: fixed`Changing routines`,
    says: fixed`Changes or pauses what is set up.`,
    doing: fixed`changing a routine`,
    risk: 'safe',
    main: 'default',
    inner: true,
  },
  routine_remove: {
    icon: '⏰',
    title: fixed`Removing routines`,
    says: fixed`Removes what is set up.`,
    doing: fixed`removing a routine`,
    risk: 'safe',
    main: 'default',
    inner: true,
  },
  bash: {
    icon: '💻',
    title: fixed`Commands`,
    says: fixed`Runs commands in the sandbox.`,
    doing: fixed`running a command`,
    risk: 'sandbox',
    main: 'named',
    runs: 'default',
  },
  skills_run_script: {
    icon: '⚙️',
    title: fixed`Scripts of a skill`,
    says: fixed`Runs a script that belongs to the skill, in the sandbox.`,
    doing: fixed`running a script`,
    risk: 'sandbox',
    runs: 'default',
    needs: 'skills',
  },
  read_file: {
    icon: '📄',
    title: fixed`Reading files`,
    says: fixed`Reads files of this conversation.`,
    doing: fixed`reading a file`,
    risk: 'safe',
    main: 'named',
    runs: 'default',
    inline: true,
  },
  write_file: {
    icon: '📝',
    title: fixed`Writing files`,
    says: fixed`Writes files of this conversation.`,
    doing: fixed`writing a file`,
    risk: 'moderate',
    main: 'named',
    runs: 'default',
  },
  list_files: {
    icon: '🗂',
    title: fixed`List of files`,
    says: fixed`Looks at what files there are here.`,
    doing: fixed`looking through the files`,
    risk: 'safe',
    main: 'named',
    runs: 'default',
    inline: true,
  },
  grep_files: {
    icon: '🔎',
    title: fixed`Search of files`,
    says: fixed`Finds words in the files here.`,
    doing: fixed`looking through the files`,
    risk: 'safe',
    main: 'named',
    runs: 'named',
    inline: true,
  },
  send_file: {
    icon: '📎',
    title: fixed`Sending files`,
    says: fixed`Sends a file here.`,
    doing: fixed`sending a file`,
    risk: 'moderate',
    main: 'default',
    runs: 'default',
  },
  web_fetch: {
    icon: '🌐',
    title: fixed`Reading pages`,
    says: fixed`Reads a page of the public internet.`,
    doing: fixed`reading a web page`,
    risk: 'safe',
    main: 'named',
    runs: 'default',
  },
  web_search: {
    icon: '🔍',
    title: fixed`Web search`,
    says: fixed`Searches the web.`,
    doing: fixed`searching the web`,
    risk: 'safe',
    main: 'named',
    runs: 'default',
    needs: 'search',
  },
  subagent: {
    icon: '👥',
    title: fixed`Subagents`,
    says: fixed`Hands a part of its work to a subagent.`,
    doing: fixed`handing over a part of the work`,
    risk: 'safe',
    runs: 'default',
  },
  ask_person: {
    icon: '❓',
    title: fixed`Questions`,
    says: fixed`Asks you something and continues with your answer.`,
    doing: fixed`asking you a question`,
    risk: 'safe',
    runs: 'kept',
  },
  capability_list: {
    icon: '🔑',
    title: fixed`Linked systems`,
    says: fixed`Looks at what a skill may reach for you.`,
    doing: fixed`looking at the linked systems`,
    risk: 'safe',
    runs: 'kept',
    needs: 'capabilities',
    inner: true,
  },
  capability_invoke: {
    icon: '🔑',
    title: fixed`Linked systems`,
    says: fixed`Works in a system you have linked, with your own account.`,
    doing: fixed`working in a linked system`,
    risk: 'moderate',
    runs: 'kept',
    needs: 'capabilities',
  },
  capability_auth: {
    icon: '🔑',
    title: fixed`Linking`,
    says: fixed`Links an account of yours.`,
    doing: fixed`linking an account`,
    risk: 'moderate',
    runs: 'kept',
    needs: 'capabilities',
    inner: true,
  },
  remember: {
    icon: '📝',
    title: fixed`Memory`,
    says: fixed`Keeps a note for later conversations.`,
    doing: fixed`making a note`,
    risk: 'moderate',
    main: 'default',
    runs: 'named',
    needs: 'memory',
  },
  recall: {
    icon: '📝',
    title: fixed`Search of the past`,
    says: fixed`Searches notes and what was said here before.`,
    doing: fixed`looking through what was said before`,
    risk: 'safe',
    main: 'default',
    runs: 'named',
    needs: 'memory',
  },
  forget_memory: {
    icon: '📝',
    title: fixed`Removing notes`,
    says: fixed`Removes a note.`,
    doing: fixed`removing a note`,
    risk: 'moderate',
    main: 'default',
    runs: 'named',
    needs: 'memory',
    inner: true,
  },
  skill_write: {
    icon: '✍️',
    title: fixed`Writing skills`,
    says: fixed`Writes a skill, off until somebody enables it.`,
    doing: fixed`writing a skill`,
    risk: 'moderate',
    runs: 'named',
  },
  skill_read: {
    icon: '📄',
    title: fixed`Reading skills`,
    says: fixed`Reads a skill to change it.`,
    doing: fixed`reading a skill`,
    risk: 'safe',
    runs: 'named',
    inner: true,
  },
};

export function builtInTool(name: string): BuiltInTool | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

export function builtInNames(isSuch: (row: BuiltInTool) => boolean = () => true): readonly string[] {
  return Object.entries(table).flatMap(([name, row]) => (isSuch(row) ? [name] : []));
}

/** Prefix of the tools of MCP servers. No other tool's name begins with it (X7). */
export const serverToolPrefix = 'mcp_';
