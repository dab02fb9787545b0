/**
 * Refuses the changes that requests make to a deployed database, while it is copied or exchanged: each change is recorded
 * in the audit trail in its own transaction, so one trigger there refuses them all. Reads go on.
 */
import { PAUSE_MESSAGE } from '../../src/db/failures.ts'
import type { Account } from '../cloudflare.ts'
import { PAUSE_TRIGGER } from './backup-file.ts'

/** The trigger expires by itself, so that a process that is killed leaves no database that refuses changes for good. */
const EXPIRY_SECONDS = 300
const RENEWAL_MS = 60_000

/** As SQLite formats an instant, by D1's clock: that of this machine may be wrong. */
const instant = (modifier = '') => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now'${modifier})`

const REMOVE = { sql: `DROP TRIGGER IF EXISTS "${PAUSE_TRIGGER}"` }

export class WritePause {
  readonly #account: Account
  readonly #databaseId: string
  readonly #timer: NodeJS.Timeout
  #expiresAt: string | undefined
  #hasLapsed = false

  private constructor(account: Account, databaseId: string) {
    this.#account = account
    this.#databaseId = databaseId
    // A renewal that fails is made good by the next one, or found by `confirm`.
    this.#timer = setInterval(() => this.#renew().catch(() => undefined), RENEWAL_MS).unref()
  }

  static async begin(account: Account, databaseId: string): Promise<WritePause> {
    const pause = new WritePause(account, databaseId)
    try {
      await pause.#renew()
    } catch (error) {
      pause.abandon()
      throw error
    }
    return pause
  }

  /** @throws if a change may have been accepted since the pause began. */
  async confirm(): Promise<void> {
    await this.#renew()
    if (this.#hasLapsed)
      throw new Error('Changes were refused for too short a time: it took too long. Try again.')
  }

  async end(): Promise<void> {
    this.abandon()
    await this.#account.query(this.#databaseId, [REMOVE])
  }

  /** Leaves the trigger to expire, of a database that nothing is to write to any more. */
  abandon(): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    const sql = `SELECT ${instant()} AS "now", ${instant(`, '+${EXPIRY_SECONDS} seconds'`)} AS "expiresAt"`
    const [[clock] = []] = await this.#account.query(this.#databaseId, [{ sql }])
    const create = `CREATE TRIGGER "${PAUSE_TRIGGER}" BEFORE INSERT ON "auditEvents" WHEN ${instant()} < '${clock?.expiresAt}'
      BEGIN SELECT RAISE(ABORT, '${PAUSE_MESSAGE}'); END`
    const [, , [after] = []] = await this.#account.query(this.#databaseId, [REMOVE, { sql: create }, { sql }])
    if (this.#expiresAt !== undefined && String(after?.now) >= this.#expiresAt) this.#hasLapsed = true
    this.#expiresAt = String(clock?.expiresAt)
  }
}
