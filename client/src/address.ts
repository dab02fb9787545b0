/** What is wrong with the address of a service or with an API key, without repeating the secrets in them. */

/** An address that begins with a slash is resolved by the browser. */
const ANY_BASE = 'https://localhost'

/** @returns the rest of a sentence that begins with the name of the setting; undefined if nothing is wrong. */
export function problemOfAddress(address: string): string | undefined {
  const base = address.startsWith('/') ? ANY_BASE : undefined
  if (!URL.canParse(address, base)) {
    // Before "@", even an address that is not valid may have a password, and the errors of `fetch` repeat addresses.
    const isSecret = address.includes('@')
    return isSecret
      ? 'is not an http or https address; got text with "@"; example: https://api.example.com.'
      : undefined
  }
  const { username, password } = new URL(address, base)
  if (username === '' && password === '') return undefined
  return 'has credentials, which are not shown here; allowed: an address without them, such as https://api.example.com.'
}

/** @returns the rest of a sentence that begins with the name of the setting; undefined if nothing is wrong. */
export function problemOfApiKey(apiKey: string): string | undefined {
  if (/^[!-~]*$/.test(apiKey)) return undefined
  return 'has a space, a line break or another character that no API key has; it is not shown here; allowed: wsk_ and 43 letters, digits, "-" and "_".'
}
