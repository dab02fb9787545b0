/** A receiver of runs, in workerd's internet (receiver-service.ts). */

/** A response of the status 200 with this body, or another status. */
export interface AnswerWithBody {
  readonly body: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** How long it takes to answer. */
  readonly waitMs?: number
  /** True if the body never ends. */
  readonly isEndless?: true
}

/** A status, 200 once the test calls `release`, a broken connection, or a redirect to another receiver. */
export type Answer = number | 'wait' | 'break' | (string & {}) | AnswerWithBody

/** A request that a receiver got. */
export interface Received {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export class Receiver {
  readonly box = crypto.randomUUID()
  readonly url = `https://hooks.example.com/${this.box}`
  readonly #control = `https://control.example.com/${this.box}`

  /** How it answers, one after the other; the last for good. */
  async answers(...answers: Answer[]): Promise<this> {
    await fetch(this.#control, { method: 'PUT', body: JSON.stringify(answers) })
    return this
  }

  /** Answers the requests that wait. */
  async release(): Promise<void> {
    await fetch(this.#control, { method: 'POST' })
  }

  async received(): Promise<Received[]> {
    return (await fetch(this.#control)).json()
  }
}
