/** What the tests use of `oidc-provider`, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Interaction = Readonly<{
    uid: string;
    prompt: Readonly<{ name: string }>;
    params: Readonly<Record<string, string>>;
    session?: Readonly<{ accountId: string }>;
  }>;

  export default class Provider {
    constructor(issuer: string, configuration: object);
    Grant: new (of: Readonly<{ accountId: string; clientId: string }>) => {
      addOIDCScope(scope: string): void;
      addResourceScope(resource: string, scope: string): void;
      save(): Promise<string>;
    };
    proxy: boolean;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options?: object,
    ): Promise<void>;
    on(event: string, listener: (...of: readonly unknown[]) => void): void;
  }
}
