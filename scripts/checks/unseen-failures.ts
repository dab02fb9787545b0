/** The failures that contracts list and that no test has seen: one that cannot happen is no failure. */
import type { Failure } from '../../src/errors.ts'
import type { Contract } from '../../src/http/contract.ts'

export const nameOfFailure = ({ operationId }: Pick<Contract, 'operationId'>, { code, message }: Failure): string =>
  `${operationId} ${code}: ${message}`

/** @param seen a line for each failure that a test has seen, some of them several times. */
export async function unseenFailures(seen: string): Promise<string[]> {
  const { loadOperations } = await import('../../src/operations.ts')
  const lines = new Set(seen.split('\n'))
  const listed = (await loadOperations()).flatMap(({ contract }) =>
    (contract.failures ?? []).map((failure) => nameOfFailure(contract, failure)),
  )
  return listed.filter((name) => !lines.has(name))
}
