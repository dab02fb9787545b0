/** Sign-in and sign-out. The Worker keeps the token of the session in a cookie that no script can read. */

/** @throws what the service says of the API key. */
export async function signIn(apiKey: string): Promise<void> {
  const response = await fetch('/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiKey }),
  })
  if (!response.ok) throw new Error(await errorOf(response))
}

/** @throws if the session may still be valid. */
export async function signOut(): Promise<void> {
  const response = await fetch('/session', { method: 'DELETE' })
  if (!response.ok) throw new Error(await errorOf(response))
}

async function errorOf(response: Response): Promise<string> {
  const { error } = (await response.json().catch(() => ({}))) as { error?: string }
  return error ?? `The console responded with the status ${response.status}.`
}
