/** Questions on the terminal, and what standard input has in place of an answer. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { UsageError } from '../../command-line/src/index.ts'

/** Asks a person on the terminal. @param isSecret if the answer is not shown. */
export async function ask(question: string, isSecret = false): Promise<string> {
  let isShown = true
  const output = new Writable({
    write(chunk, _, done) {
      if (isShown) process.stderr.write(chunk)
      done()
    },
  })
  // Readline shows what is typed by itself when it is a terminal.
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    const answer = lines.question(question)
    isShown = !isSecret
    return await answer
  } finally {
    lines.close()
    if (isSecret) process.stderr.write('\n')
  }
}

/** Asks for a secret; if standard input is not a terminal, it is the secret. One line break at its end is left out. */
export async function readSecret(question: string): Promise<string> {
  if (process.stdin.isTTY) return ask(question, true)
  return (await readStandardInput()).toString('utf8').replace(/\r?\n$/, '')
}

/** Asks for a line; if standard input is not a terminal, it is the first line. */
export async function readLine(question: string): Promise<string> {
  if (process.stdin.isTTY) return ask(question)
  const lines = createInterface({ input: process.stdin })
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
  }
}

/** A URL may be a secret, which neither the history of the shell nor the list of processes should show. */
export async function readUrl(url: string): Promise<string> {
  return url === '-' ? (await readStandardInput()).toString('utf8').trim() : url
}

export const URL_ARGUMENT = 'an https URL of a public host; - reads it from standard input'

export function readStandardInput(): Promise<Buffer> {
  return buffer(process.stdin)
}

/** @param option that answers the question with yes. @throws if there is nobody to ask. */
export async function isConfirmed(question: string, option: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError(`${option} is missing: standard input is not a terminal.`)
  return /^\s*y(es)?\s*$/i.test(await ask(`${question} (y/N) `))
}
