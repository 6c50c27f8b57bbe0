/** What a server says about the sign-in that it wants (`WWW-Authenticate`). */
export type Challenge = Readonly<{ metadataUrl?: string | undefined; scope?: string | undefined }>;

/** A call needs a sign-in of the person, or one with more permissions: `challenge.scope` (X8). */
export class SignInNeeded extends Error {
  readonly challenge: Challenge;

  constructor(challenge: Challenge) {
    super('the person has to sign in');
    this.challenge = challenge;
  }
}

/** A sign-in can't be done. The message says why and what operators can do; it has no secret in it. */
export class SignInProblem extends Error {}

/** The kind of an error, for logs: messages of authorization servers may quote what they were sent. */
export function errorKind(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
