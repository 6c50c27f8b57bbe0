import { fixed, type Fixed } from './texts/say.ts';

type Row = Readonly<{
  name: string;
  /** Its line in menus; undefined if no menu lists it. */
  menu?: Fixed;
  /** What the reference says about it if no menu lists it. */
  about?: string;
  /** Set if it is an everyday word, which counts as a command after a mention only with a slash. */
  onlyWithMark?: true;
}>;

/** Commands of chats, in the order of menus. They win over skills of the same name (I3). */
export const builtInCommands = [
  { name: 'start', about: 'Hello; with a code that you were given, it makes you an owner' },
  { name: 'help', menu: fixed`What I can do and how to ask for it` },
  { name: 'skills', menu: fixed`The skills you can use here` },
  { name: 'skill', menu: fixed`Start a skill by its name` },
  { name: 'new', menu: fixed`Start a new conversation` },
  { name: 'clear', about: 'The same as `new`' },
  { name: 'retry', menu: fixed`Answer your last question again` },
  { name: 'routines', menu: fixed`Reminders and what I do at set times` },
  { name: 'stop', menu: fixed`Stop what I am doing` },
  { name: 'tasks', about: 'What runs in the background here' },
  { name: 'status', menu: fixed`How I am doing` },
  { name: 'tools', menu: fixed`What I and my skills can use here` },
  { name: 'settings', menu: fixed`Set up the tools in this chat` },
  { name: 'memory', menu: fixed`What I have noted here` },
  { name: 'model', menu: fixed`My model in this chat (owners)` },
  { name: 'persona', menu: fixed`My persona in this chat (owners)` },
  { name: 'whoami', menu: fixed`Your id and role` },
  { name: 'why', menu: fixed`Who may do what, and by which rule (owners)`, onlyWithMark: true },
  { name: 'exit', about: 'Leave a terminal' },
] as const satisfies readonly Row[];

export type BuiltIn = (typeof builtInCommands)[number]['name'];

const rows: ReadonlyMap<string, Row & Readonly<{ name: BuiltIn }>> = new Map(
  builtInCommands.map((row) => [row.name, row]),
);

/** The command of this name; undefined if there is none. */
export function builtInCommand(name: string): (Row & Readonly<{ name: BuiltIn }>) | undefined {
  return rows.get(name);
}
