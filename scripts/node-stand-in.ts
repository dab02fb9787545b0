/** Lets Node load modules of the Worker: it has no `cloudflare:workers`. */
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (name, context, next) =>
    name === 'cloudflare:workers'
      ? { url: 'data:text/javascript,export class WorkerEntrypoint {}', shortCircuit: true }
      : next(name, context),
})
