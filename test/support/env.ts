/**
 * The bindings, for tests in workerd. `DB` is the database of the organizations of this file. With `DATABASES=3` the
 * deployment has three databases, and which of them it is follows from the seed and the path of the file.
 */
import { env as bindings } from 'cloudflare:workers'
import { bindingOf, type DatabaseEnvironment, requireDatabase } from '../../src/db/database.ts'

let number = 0

/** The number of the database that has the organizations of this file. */
export const databaseNumber = () => number

export const env: Cloudflare.Env = Object.defineProperty({ ...bindings }, 'DB', {
  get: () => requireDatabase(bindings, number),
  enumerable: true,
})

/** Before each file. Wherever the project is, a file has the same database. */
export function drawDatabase(path: string): void {
  const ownPath = path.slice(env.FOLDER.length)
  number = [...ownPath].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) >>> 0, env.SEED) % env.DATABASES
}

/** The bindings of the deployment, from those of a test: its `DB` may have another number there. */
export function deployed(environment: Cloudflare.Env): Cloudflare.Env {
  return { ...environment, DB: bindings.DB, [bindingOf(number)]: environment.DB }
}

/** The environment of a task of the tick. */
export function ofDatabase(environment: Cloudflare.Env): DatabaseEnvironment {
  return { ...deployed(environment), database: environment.DB, databaseNumber: number }
}
