/** Runs before each test file on Node. */
import { afterAll } from 'vitest'
import { endRunner } from './command-turns.ts'

afterAll(endRunner)

/** undici's name of what sends the requests of `fetch`. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

// Each request has a connection of its own: a server may end one that was kept while the next request is sent.
await fetch('data:,')
const { constructor: Agent } = Reflect.get(globalThis, DISPATCHER)
Reflect.set(globalThis, DISPATCHER, Reflect.construct(Agent, [{ pipelining: 0 }]))
