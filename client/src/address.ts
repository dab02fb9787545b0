/** What is wrong with the address of a service or with an API key, without repeating the secrets in them. */

/** A relative address is resolved by the browser. */
const ANY_BASE = 'https://localhost'

/** @returns the rest of a sentence that begins with the name of the setting; undefined if nothing is wrong. */
export function problemOfAddress(address: string): string | undefined {
  if (!URL.canParse(address, ANY_BASE)) return undefined
  const { username, password } = new URL(address, ANY_BASE)
  if (username === '' && password === '') return undefined
  return 'has credentials, which are not shown here; allowed: an address without them, such as https://api.example.com.'
}

/** @returns the rest of a sentence that begins with the name of the setting; undefined if nothing is wrong. */
export function problemOfApiKey(apiKey: string): string | undefined {
  if (/^[!-~]*$/.test(apiKey)) return undefined
  return 'has a space, a line break or another character that no API key has; it is not shown here; allowed: wsk_ and 43 letters, digits, "-" and "_".'
}
