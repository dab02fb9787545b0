/**
 * Refuses writes to a deployed database while it is copied or replaced. Every change inserts an audit event
 * in its transaction, so one trigger on that table refuses all changes. Reads continue.
 */
import { PAUSE_MESSAGE } from '../../src/db/failures.ts'
import type { Account } from '../cloudflare.ts'
import { PAUSE_TRIGGER } from './backup-file.ts'

/** The trigger expires, so that a killed process does not block writes forever. */
const EXPIRY_SECONDS = 300
const RENEWAL_MS = 60_000

/** An instant by D1's clock, because the clock of this machine may be wrong. */
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
    // After a failed renewal the next one may succeed. If the pause has lapsed, `confirm` fails.
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

  /** @throws if writes may have been accepted since the pause began. */
  async confirm(): Promise<void> {
    await this.#renew()
    if (this.#hasLapsed) throw new Error('The pause of writes expired before the work was complete. Try again.')
  }

  async end(): Promise<void> {
    this.abandon()
    await this.#account.query(this.#databaseId, [REMOVE])
  }

  /** Stops renewing the trigger, so that it expires. */
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
