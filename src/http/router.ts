/** The router of the app. Hono's RegExpRouter refuses `/v1/runs/claim` beside `/v1/runs/:runId/renew`. */
import type { Result, Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'

/** The part of a path that says what it is about: `/v1/pins`. */
const RESOURCE = /^\/v1\/[^/]+/

/**
 * Hono's TrieRouter, once for each resource: the trie of a resource is built on the first request for it, because the
 * trie of all operations takes a third of the time in which the Worker's modules are evaluated.
 */
export class ResourceRouter<T> implements Router<T> {
  readonly name = 'ResourceRouter'
  readonly #routes: [method: string, path: string, handler: T][] = []
  readonly #resources = new Set<string>()
  readonly #routers = new Map<string, TrieRouter<T>>()

  add(method: string, path: string, handler: T): void {
    this.#routes.push([method, path, handler])
    this.#resources.add(resourceOf(path))
  }

  match(method: string, path: string): Result<T> {
    const named = resourceOf(path)
    const resource = this.#resources.has(named) ? named : ''
    const router = this.#routers.get(resource) ?? this.#build(resource)
    return router.match(method, path)
  }

  /** Of the routes of the resource, and of the middleware and the other routes, which are of no resource. */
  #build(resource: string): TrieRouter<T> {
    const router = new TrieRouter<T>()
    for (const [method, path, handler] of this.#routes) {
      if (['', resource].includes(resourceOf(path))) router.add(method, path, handler)
    }
    this.#routers.set(resource, router)
    return router
  }
}

/** Empty for a path that is not of a resource. */
const resourceOf = (path: string) => RESOURCE.exec(path)?.[0] ?? ''
