import type { App } from '../../src/app.ts';

/** The members of the bot that a test needs. Reading another one fails at once, as it is undefined. */
export function appOf(members: { readonly [Name in keyof App]?: Partial<App[Name]> | App[Name] }): App {
  return members as App;
}

/** The members of one part of the bot, such as its users or a channel, that a test needs. It fails the same way. */
export function partOf<Part>(members: Partial<NoInfer<Part>>): Part {
  return members as Part;
}
