import type { Config } from '../config/complete-config.ts';
import type { Check } from '../operator/doctor/finding.ts';
import type { Operate } from '../operator/operations.ts';
import type { Html } from '../lib/text/html.ts';
import type { ShownNames } from './names.ts';
import type { OpenSession } from './sessions.ts';
import type { Times } from './times.ts';
import type { Waits } from './waits.ts';

/** What one request works on: a running bot, or the store while none runs. */
export type Source = Readonly<{
  operate: Operate;
  isRunning: boolean;
  config: Config;
  /** Makes the checks of `skillet doctor`, without the network. */
  examine(): Promise<readonly Check[]>;
  /** Takes the secrets out of a text (S2). */
  redact(text: string): string;
  close(): Promise<void>;
}>;

/** What the forms of a dashboard may do, which `--act` switches on. */
export type Acts = Readonly<{
  /** The person in whose name approvals are answered. Undefined: none can be answered. */
  as?: string;
}>;

export type PageView = Readonly<{
  /** Runs operations; their results have no secrets in them. */
  ask: Operate;
  examine: Source['examine'];
  isRunning: boolean;
  config: Config;
  path: string;
  query: URLSearchParams;
  /** What forms may do. Undefined if nothing can be changed. */
  acts?: Acts;
  /** A secret in each form, which a form of another page does not have. */
  formToken: string;
  now: number;
  times: Times;
  names: ShownNames;
  waits: Waits;
  /** Open sessions of this dashboard, this browser's first. */
  sessions: readonly OpenSession[];
}>;

export const menuGroups = ['Today', 'People', 'Bot', 'Record'] as const;

/** A page of the dashboard. `lives`: it is shown again whenever it changes. */
export type Page = Readonly<{
  path: string;
  title: string;
  /** Where it is in the menu. Undefined: other pages link to it. */
  group?: (typeof menuGroups)[number];
  lives?: true;
  /** The path of the page that the menu marks, if this one is not in it. */
  under?: string;
  /** What the page is about, in place of its title. */
  heading?(view: PageView): string;
  /** What waits there for somebody, for the number in the menu. */
  waits?: keyof Waits;
  main(view: PageView): Promise<Html>;
}>;

/** A file that a page offers. */
export type Download = Readonly<{
  path: string;
  /** The file's text and its name. */
  text(view: PageView): Promise<Readonly<{ name: string; text: string }>>;
}>;

/** What a form did. `undo` is a form that takes it back. */
export type Done = Readonly<{ text: string; undo?: Undo }>;
export type Undo = Readonly<{ action: string; fields: Readonly<Record<string, string>> }>;

/** What a person is asked before something is removed. `text` says whether it can be taken back. */
export type SureQuestion = Readonly<{ title: string; text: string; yes: string }>;

/** What one form of a page does, and where it leads. */
export type Action = Readonly<{
  /** The page that shows how it went. */
  page: Page;
  /** Also without `--act`, because it changes nothing of the bot. */
  always?: true;
  /** Undefined: it is done at once. */
  asks?(form: URLSearchParams, view: PageView): SureQuestion;
  act(form: URLSearchParams, view: PageView): Promise<string | Done>;
}>;
