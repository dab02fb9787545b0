/** The parts of oidc-provider that `npm run dev -- --sign-in` uses. The package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

  interface Grant {
    addOIDCScope(scope: string): void
    save(): Promise<string>
  }

  interface Context {
    readonly path: string
    readonly req: IncomingMessage
    readonly cookies: { set(name: string): void }
    readonly oidc: {
      readonly session: { readonly accountId: string }
      readonly client: { readonly clientId: string }
      readonly provider: Provider
    }
  }

  export default class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: new (settings: {
      accountId: string
      clientId: string
    }) => Grant
    use(middleware: (context: Context, next: () => Promise<void>) => Promise<void>): void
    callback(): RequestListener
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }

  export type { Context }
}
