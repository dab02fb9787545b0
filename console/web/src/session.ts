/** Sign-in and sign-out. The Worker keeps the token of the session in a cookie that no script can read. */
import { dropDrafts } from './drafts.ts'
import { currentPerson, whileSigningOut } from './session-end.ts'
import type { SignInWays } from './sign-in-ways.ts'

/** @throws what the service says of the API key. */
export async function signIn(apiKey: string): Promise<void> {
  const response = await fetch('/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey }),
  })
  if (!response.ok) throw new Error(await errorOf(response))
}

/** Nothing that was typed stays. @throws if the session may still be valid. */
export async function signOut(): Promise<void> {
  const person = currentPerson()
  await whileSigningOut(async () => {
    const response = await fetch('/session', { method: 'DELETE' })
    if (!response.ok) throw new Error(await errorOf(response))
  })
  if (person !== undefined) dropDrafts(person)
}

/**
 * @param organization its ID; without it, only the providers that belong to an organization.
 * @returns the error if they cannot be read: a key may still work.
 */
export async function readSignInWays(organization?: string): Promise<SignInWays | Error> {
  const query = organization === undefined ? '' : `?${new URLSearchParams({ organization })}`
  try {
    const response = await fetch(`/session/providers${query}`)
    return response.ok ? await response.json() : new Error(await errorOf(response))
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

export const isSignInPage = (pathname: string) => /^\/sign-in(?:\/|$)/.test(pathname)

const ORGANIZATION = 'organization'

/** For the next time, when the session has ended and the address names no organization. */
export function rememberOrganization(id: string | undefined): void {
  if (id !== undefined) localStorage.setItem(ORGANIZATION, id)
}

export function rememberedOrganization(): string | undefined {
  return localStorage.getItem(ORGANIZATION) ?? undefined
}

/** An organization that is not there is not offered again. */
export function forgetOrganization(): void {
  localStorage.removeItem(ORGANIZATION)
}

/** @returns what the console says is wrong. */
export async function errorOf(response: Response): Promise<string> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: string }
  return error ?? `The console responded with the status ${response.status}.`
}
