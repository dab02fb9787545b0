/**
 * Refuses the changes that requests make to a deployed database, while it is copied or exchanged: each change is recorded
 * in the audit trail in its own transaction, so one trigger there refuses them all. Reads go on.
 */

import type { Account } from '../cloudflare.ts'
import { PAUSE_TRIGGER } from './backup-file.ts'

/** The trigger expires by itself, so that a process that is ended leaves no database that refuses changes for good. */
const EXPIRY_MS = 5 * 60_000
const RENEWAL_MS = 60_000

const REMOVE = { sql: `DROP TRIGGER IF EXISTS "${PAUSE_TRIGGER}"` }

export class WritePause {
  readonly #account: Account
  readonly #databaseId: string
  readonly #timer: NodeJS.Timeout
  #renewalFailure: unknown

  private constructor(account: Account, databaseId: string) {
    this.#account = account
    this.#databaseId = databaseId
    this.#timer = setInterval(() => {
      this.#renew().catch((error) => {
        this.#renewalFailure = error
      })
    }, RENEWAL_MS).unref()
  }

  static async begin(account: Account, databaseId: string): Promise<WritePause> {
    const pause = new WritePause(account, databaseId)
    await pause.#renew()
    return pause
  }

  /** @throws if changes may have gone on, because a renewal failed. */
  async confirm(): Promise<void> {
    if (this.#renewalFailure) throw this.#renewalFailure
    await this.#renew()
  }

  async end(): Promise<void> {
    this.abandon()
    await this.#account.query(this.#databaseId, [REMOVE])
  }

  /** Leaves it to expire, of a database that nothing is to write to any more. */
  abandon(): void {
    clearInterval(this.#timer)
  }

  async #renew(): Promise<void> {
    const expiresAt = new Date(Date.now() + EXPIRY_MS).toISOString()
    await this.#account.query(this.#databaseId, [
      REMOVE,
      {
        sql: `CREATE TRIGGER "${PAUSE_TRIGGER}" BEFORE INSERT ON "auditEvents"
          WHEN strftime('%Y-%m-%dT%H:%M:%fZ', 'now') < '${expiresAt}'
          BEGIN SELECT RAISE(ABORT, 'A restore is under way'); END`,
      },
    ])
  }
}
