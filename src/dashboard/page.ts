import type { Config } from '../config/complete-config.ts';
import type { Operate } from '../operator/operations.ts';
import type { Html } from './html.ts';

/** What one request works on: a running bot, or the store while none runs. */
export type Source = Readonly<{
  operate: Operate;
  isRunning: boolean;
  config: Config;
  /** Takes the secrets out of a text (S2). */
  redact(text: string): string;
  close(): Promise<void>;
}>;

export type PageView = Readonly<{
  /** Runs operations; their results have no secrets in them. */
  ask: Operate;
  isRunning: boolean;
  config: Config;
  query: URLSearchParams;
  /** What forms may do. Undefined: nothing can be changed. */
  acts?: Readonly<{
    formToken: string;
    /** The person in whose name approvals are answered. Undefined: none can be answered. */
    as?: string;
  }>;
  now: number;
}>;

/** A page of the dashboard. `lives`: it is shown again whenever it changes. */
export type Page = Readonly<{
  path: string;
  title: string;
  lives?: true;
  main(view: PageView): Promise<Html>;
}>;

/** What a form does. The text that it returns is shown on the page that belongs to the form. */
export type Action = (form: URLSearchParams, view: PageView) => Promise<string>;
