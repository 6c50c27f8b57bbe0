import type { Config } from '../config/complete-config.ts';
import type { Operate } from '../operator/operations.ts';
import type { Html } from './html.ts';

/** What one request looks at: a running bot, or the store while none runs. */
export type Source = Readonly<{
  operate: Operate;
  isRunning: boolean;
  config: Config;
  /** Takes secrets out (S2). */
  redact(text: string): string;
  close(): Promise<void>;
}>;

export type View = Readonly<{
  /** Without secrets. */
  ask: Operate;
  isRunning: boolean;
  config: Config;
  query: URLSearchParams;
  /** Absent: nothing can be changed. */
  acts?: Readonly<{
    formToken: string;
    /** The person in whose name approvals are answered. */
    as?: string;
  }>;
  now: number;
}>;

/** `lives`: shown again whenever it changes. */
export type Page = Readonly<{
  path: string;
  title: string;
  lives?: true;
  main(view: View): Promise<Html>;
}>;

/** Something a form does; the answer is said on the page that it came from. */
export type Action = (form: URLSearchParams, view: View) => Promise<string>;
