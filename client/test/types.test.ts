/** The types of the client: what they are for right use, and that wrong use does not compile. Nothing is sent. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Workspace as Client, components } from '../src/index.ts'

type Schemas = components['schemas']

const uses = {
  right: async (workspace: Client) => {
    expectTypeOf(await workspace.skills.retrieve('x')).toEqualTypeOf<Schemas['Skill']>()
    expectTypeOf(await workspace.skills.retrieve('x', { ifNoneMatch: '"1"' })).toEqualTypeOf<Schemas['Skill'] | null>()
    expectTypeOf(await workspace.projects.put('x', { name: 'X' })).toEqualTypeOf<Schemas['Project']>()
    expectTypeOf((await workspace.sessions.files.list('x').page()).items).toEqualTypeOf<Schemas['SessionFile'][]>()
    for await (const event of workspace.events.list()) expectTypeOf(event).toEqualTypeOf<Schemas['Event']>()
    for await (const pin of workspace.pins.list()) expectTypeOf(pin).toEqualTypeOf<Schemas['Pin']>()
    for await (const pin of workspace.pins.list({ expand: 'resource' }))
      expectTypeOf(pin.resource).toEqualTypeOf<Schemas['PinnedResource']>()
    expectTypeOf(await workspace.sessions.files.content.retrieve('x', 'y')).toEqualTypeOf<Response>()
    expectTypeOf(await workspace.me.retrieve().withResponse()).toEqualTypeOf<{
      readonly data: Schemas['Me']
      readonly response: Response
    }>()
    workspace.runs.list({ from: new Date(), status: 'failed', limit: 10, signal: undefined, cursor: undefined })
    workspace.schedules.list({ enabled: true, nextRunBefore: '2026-03-01T00:00:00Z' })
    workspace.skills.versions.retrieve('x', 3)
    workspace.me.sessions.create()
    workspace.me.sessions.create(undefined, { timeout: 1000 })
    for (const content of [new Blob([]), new Uint8Array(), new ArrayBuffer(0), new ReadableStream<Uint8Array>()])
      workspace.sessions.files.put('x', content, { path: 'a', contentType: 'text/plain' })
    workspace.agents.schedules.create('x', { cron: '@daily' }, { idempotencyKey: 'one', maxRetries: 5 })
  },
  wrong: async (workspace: Client) => {
    // @ts-expect-error: no such resource
    workspace.customers.list()
    // @ts-expect-error: no such method
    workspace.runs.delete('x')
    // @ts-expect-error: the ID is missing
    workspace.skills.retrieve()
    // @ts-expect-error: no such option
    workspace.agents.list({ projectId: 'x' })
    // @ts-expect-error: a number
    workspace.agents.list({ limit: '10' })
    // @ts-expect-error: not an option of the list
    workspace.runs.list({ status: 'done' })
    // @ts-expect-error: a boolean
    workspace.apiKeys.delete('x', { descendants: 'true' })
    // @ts-expect-error: neither a date nor text
    workspace.runs.list({ since: 5 })
    // @ts-expect-error: the body is missing
    workspace.projects.put('x')
    // @ts-expect-error: no such property of the body
    workspace.projects.put('x', { title: 'X' })
    // @ts-expect-error: the path is required
    workspace.sessions.files.put('x', new Blob([]))
    // @ts-expect-error: not the content of a file
    workspace.sessions.files.put('x', { name: 'x' }, { path: 'a' })
    // @ts-expect-error: a deletion takes no Idempotency-Key
    workspace.projects.delete('x', { idempotencyKey: 'one' })
    // @ts-expect-error: the operation has no ETag
    workspace.runs.retrieve('x', { ifNoneMatch: '"1"' })
    // @ts-expect-error: only what is asked for by `expand` is there
    for await (const pin of workspace.pins.list()) console.log(pin.resource)
    // @ts-expect-error: nothing else can be expanded
    workspace.pins.list({ expand: 'user' })
    // @ts-expect-error: not a session, a pull request or a project
    workspace.pins.put('skill', 'x')
    // @ts-expect-error: there is no skill if it was not modified
    console.log((await workspace.skills.retrieve('x', { ifNoneMatch: '"1"' })).name)
    // @ts-expect-error: a list has pages
    console.log((await workspace.skills.list()).items)
    // @ts-expect-error: the version is a number
    workspace.skills.versions.retrieve('x', '3')
  },
}

describe('the types of the client', () => {
  it('are checked by `npm run check -- types`', () => {
    expect(Object.keys(uses)).toEqual(['right', 'wrong'])
  })
})
