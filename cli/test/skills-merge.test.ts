/** Two agents that change the same skill, with the real command: nothing that one of them wrote is lost. */
import { readFileSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { runWorkspace } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { entry, readBytes, writeFiles } from './support/skill-folders.ts'

let running: SharedService
beforeAll(async () => {
  running = await sharedService()
})

const AGENTS = ['ada', 'bob'] as const
type Agent = (typeof AGENTS)[number]
const FILES = ['SKILL.md', 'steps.md', 'docs/more.md']
const START = Array.from({ length: 8 }, (_, index) => `line ${index} of the start`).join('\n')

/** One change of a file: it is deleted, or lines are in the place of others. */
interface Change {
  readonly file: string
  readonly isDeletion: boolean
  readonly at: number
  readonly removed: number
  readonly added: number
}
const change: fc.Arbitrary<Change> = fc.record({
  file: fc.constantFrom(...FILES),
  isDeletion: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  at: fc.nat(12),
  removed: fc.nat(2),
  added: fc.integer({ min: 1, max: 3 }),
})
/** What an agent does in a round. Without a sync, it gets several versions at once later. */
const turn = fc.record({ changes: fc.array(change, { maxLength: 3 }), isSynced: fc.boolean() })
const rounds = fc.array(fc.tuple(turn, turn), { minLength: 4, maxLength: 4 })

const RUNS = process.env.LONG ? 40 : 3

it('keeps every line that anybody wrote, and both agents come to the same skill', { timeout: 3_600_000 }, async () => {
  let [conflicts, merges] = [0, 0]
  await fc.assert(
    fc.asyncProperty(rounds, async (played) => {
      const folder = newFolder()
      const { apiKey } = await running.addOrganization()
      const login = { url: running.url, apiKey }
      const run = async (...args: string[]) => {
        const ended = await runWorkspace(['skills', ...args], login, {}, folder)
        merges += ended.stdout.match(/^merged /gm)?.length ?? 0
        return ended
      }
      const skillOf = (agent: Agent) => join(folder, agent, 'notes')
      writeFiles(join(folder, 'start', 'notes'), {
        'SKILL.md': `${entry('notes')}${START}`,
        'steps.md': START,
        'docs/more.md': START,
      })
      expect((await run('push', 'start')).status).toBe(0)
      for (const agent of AGENTS) expect((await run('pull', agent, 'notes')).status).toBe(0)

      const written = new Set<string>()
      const removed = new Set<string>()
      const edit = (agent: Agent, { file, isDeletion, at, ...counts }: Change, name: string) => {
        const path = join(skillOf(agent), file)
        const lines = (readBytes(skillOf(agent))[file] ?? '') === '' ? [] : readFileSync(path, 'utf8').split('\n')
        if (isDeletion && file !== 'SKILL.md' && lines.length > 0) {
          for (const line of lines) removed.add(line)
          unlinkSync(path)
          return
        }
        // The front matter stays.
        const first = file === 'SKILL.md' ? 5 : 0
        const added = Array.from({ length: counts.added }, (_, index) => `${name}.${index} of ${agent}`)
        for (const line of lines.splice(first + at, counts.removed, ...added)) removed.add(line)
        for (const line of added) written.add(line)
        writeFiles(skillOf(agent), { [file]: lines.join('\n') })
      }
      /** Resolves as an agent that keeps both sides of each conflict. */
      const resolveConflicts = (agent: Agent) => {
        for (const file of FILES) {
          if (!(file in readBytes(skillOf(agent)))) continue
          const text = readFileSync(join(skillOf(agent), file), 'utf8')
          writeFiles(skillOf(agent), { [file]: text.replace(/^(?:<<<<<<< yours|=======|>>>>>>> version .*)\n/gm, '') })
        }
      }
      /** Pushes; if somebody else was first, pulls, resolves and pushes again. */
      const sync = async (agent: Agent) => {
        const first = await run('push', agent)
        if (first.status === 0 && !first.stdout.startsWith('outdated')) return
        expect(first.stdout + first.stderr).toMatch(/^outdated|To merge it: workspace skills pull \w+ notes;/)
        const pulled = await run('pull', agent)
        expect(pulled.stderr).toBe('')
        if (pulled.status !== 0) {
          conflicts++
          const refused = await run('push', agent)
          expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/line \d+: a conflict; keep/)])
          resolveConflicts(agent)
        }
        const second = await run('push', agent)
        expect([second.status, second.stderr]).toEqual([0, ''])
        expect(second.stdout).toMatch(/^(updated|unchanged) /)
      }

      for (const [round, turns] of played.entries()) {
        for (const [index, agent] of AGENTS.entries()) {
          for (const [number, each] of (turns[index]?.changes ?? []).entries()) edit(agent, each, `${round}.${number}`)
        }
        for (const [index, agent] of AGENTS.entries()) if (turns[index]?.isSynced) await sync(agent)
      }
      for (const agent of [...AGENTS, ...AGENTS]) await sync(agent)
      await run('pull', 'current', 'notes')
      const current = readBytes(join(folder, 'current', 'notes'))
      for (const agent of AGENTS) expect(readBytes(skillOf(agent))).toEqual(current)
      const lines = Object.values(current).flatMap((hex) => Buffer.from(hex, 'hex').toString().split('\n'))
      expect([...written].filter((line) => !removed.has(line) && !lines.includes(line))).toEqual([])
      rmSync(folder, { recursive: true })
    }),
    { numRuns: RUNS, seed: Number(process.env.SEED ?? 20_261_122), endOnFailure: true },
  )
  // The runs have been through both.
  expect([conflicts > 0, merges > 0]).toEqual([true, true])
})
