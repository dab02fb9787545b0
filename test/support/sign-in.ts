/** Sign-ins of people, through the entrypoint that the console Worker calls. */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { SignIn } from '../../src/index.ts'
import type { Person, SignInResult } from '../../src/sign-in/types.ts'
import { deployed, env } from './env.ts'
import { writeWaiting } from './set-up.ts'
import type { Workspace } from './workspace.ts'

export const ISSUER = 'https://login.example.com'

/** A person of the issuer. Each has another subject. */
export function newPerson(options: Partial<Person> = {}): Person {
  const subject = options.subject ?? crypto.randomUUID()
  return {
    issuer: ISSUER,
    subject,
    claims: [['sub', subject]],
    email: null,
    name: null,
    ...options,
  }
}

/** A person with these groups. */
export const personIn = (...groups: readonly string[]) =>
  newPerson({ claims: groups.map((group) => ['groups', group] as const) })

export async function signIn(
  { organizationId }: Pick<Workspace, 'organizationId'>,
  person: Person,
  environment: Partial<Cloudflare.Env> = {},
): Promise<SignInResult> {
  await writeWaiting()
  const context = createExecutionContext()
  const result = await new SignIn(context, deployed({ ...env, ...environment })).signIn(organizationId, person)
  await waitOnExecutionContext(context)
  return result
}

/** @throws if the person is refused. */
export async function admitted(...parameters: Parameters<typeof signIn>) {
  const result = await signIn(...parameters)
  if ('refusal' in result) throw new Error(`Refused: ${result.refusal}`)
  return result
}
