import type { Act } from './act.ts';
import type { Button } from './channel.ts';

/** A piece of a page: Markdown, and the buttons under it. */
export type HomeSection = Readonly<{ markdown: string; buttons?: readonly Button[] }>;

/** A page that one person sees beside the chat, where the platform has such a thing. */
export type Home = readonly HomeSection[];

/** Somebody opened their page, or pressed a button on it (`action`). `conversation` is their direct message with the bot. */
export type Visit = Omit<Act, 'action'> & Readonly<{ action?: string }>;

/** Something that a person may ask, by one press: words of theirs, or a skill to start. */
export type Prompt = Readonly<{ title: string } & ({ say: string } | { start: string })>;

/** Shows this page to its visitor as soon as the platform lets it. Never throws: a page is a courtesy. */
export type ShowHome = (home: Home) => void;
