import type { App } from '../../src/app.ts';

/** The members of the bot that a test needs. Reading another one fails at once, as it is undefined. */
export function appOf(members: { readonly [Name in keyof App]?: Partial<App[Name]> | App[Name] }): App {
  return members as App;
}
