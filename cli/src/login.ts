/** `workspace login`, `workspace logout` and `workspace whoami`. */
import { WorkspaceError } from '../../client/src/index.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { consoleUrl, findConsole, logInByBrowser } from './browser-login.ts'
import { describe, withJson, withLimit, withTimes } from './command.ts'
import {
  currentLogin,
  currentProfile,
  type Login,
  listProfiles,
  readLogin,
  removeLogin,
  serviceUrl,
  storeLogin,
  usesEnvironment,
  validApiKey,
} from './configuration.ts'
import { print, printList, printProperties } from './output.ts'
import { ask, readSecret } from './prompt.ts'
import { connect, ENDED } from './service.ts'
import { time, timeText } from './times.ts'

export const login = withJson(
  describe(
    'login',
    'Opens the console of the service in the browser, where you allow this computer to have an API key, and stores the key for this user. If the service has no console, or with --api-key, it asks for an API key, which is not shown. If standard input is not a terminal, it is the key. WORKSPACE_URL and WORKSPACE_API_KEY are used instead of what is stored.',
    [
      'login --url https://api.example.com',
      'login --no-browser',
      'login --profile work',
      'login --url https://api.example.com < key.txt',
    ],
  )
    .option('--url <address>', 'the service; default: WORKSPACE_URL, or else the answer to a question')
    .option('--no-browser', 'print an address to open elsewhere, and ask for the code that the console shows')
    .option('--api-key', 'ask for an API key instead')
    .option('--console-url <address>', 'the console; default: the one that the service names'),
).action(async (options) => {
  const fromEnvironment = options.url === undefined && process.env.WORKSPACE_URL
  const url = fromEnvironment
    ? serviceUrl(fromEnvironment, 'WORKSPACE_URL')
    : serviceUrl(options.url ?? (await askUrl()), '--url')
  const apiKey = await obtainKey(url, options)
  const me = await connect({ url, apiKey }).me.retrieve()
  const file = await storeLogin({ url, apiKey })
  print(
    options,
    { url, file, ...me },
    `Logged in to ${url} with the key ${me.apiKey.name} of ${me.organization.name}${expiryText(me.apiKey.expiresAt)}. Stored in ${file}.`,
  )
  if (!usesEnvironment()) return
  for (const name of fromEnvironment ? ['WORKSPACE_API_KEY'] : ['WORKSPACE_URL', 'WORKSPACE_API_KEY']) {
    if (process.env[name]) console.error(`Warning: ${name} is set, and is used instead.`)
  }
})

interface KeyOptions {
  readonly browser: boolean
  readonly apiKey?: true | undefined
  readonly consoleUrl?: string | undefined
}

/** From a person in the browser, or else as text. */
async function obtainKey(url: string, options: KeyOptions): Promise<string> {
  const { browser: opensBrowser, consoleUrl: given } = options
  const isPiped = !process.stdin.isTTY && opensBrowser && given === undefined
  if (!options.apiKey && !isPiped) {
    const found = given === undefined ? await findConsole(url) : consoleUrl(given, '--console-url')
    if (found !== undefined) return logInByBrowser({ url, consoleUrl: found, opensBrowser })
    if (!opensBrowser) throw new Error(`${url} names no console. Run \`workspace login --api-key\`.`)
  }
  const apiKey = (await readSecret('API key: ')).trim()
  if (!apiKey) throw new UsageError('The API key is empty.')
  return validApiKey(apiKey, 'The API key')
}

function expiryText(expiresAt: string | null): string {
  if (expiresAt === null) return ''
  const text = timeText(expiresAt, {})
  return `, which expires ${text.startsWith('in ') ? text : `on ${text}`}`
}

export const logout = withJson(
  describe('logout', 'Removes the stored login from this machine. The API key stays valid, unless you revoke it.', [
    'logout',
    'logout --revoke',
  ]).option('--revoke', 'also revoke the stored API key and its sessions'),
).action(async ({ revoke = false, json }) => {
  const login = revoke ? readLogin() : undefined
  const isRevoked = login !== undefined && (await revokeKey(login))
  const { file, wasLoggedIn } = removeLogin()
  const done = revoke
    ? `${isRevoked ? 'Revoked the API key' : 'The API key was no longer valid'}. Removed ${file}.`
    : `Removed ${file}. Its API key stays valid.`
  print({ json }, { file, wasLoggedIn }, wasLoggedIn ? done : 'There is no stored login.')
})

/** @returns false if the key was no longer valid. @throws if the service did not revoke it for another reason. */
async function revokeKey(login: Login): Promise<boolean> {
  try {
    await connect(login).me.apiKey.delete()
    return true
  } catch (error) {
    // A proxy returns 401 too, and says nothing about the key.
    if (error instanceof WorkspaceError && ENDED.includes(error.code ?? '')) return false
    throw error
  }
}

export const profiles = withLimit(
  describe('profiles', 'Lists the stored logins. `workspace login --profile <name>` adds one.', ['profiles']),
).action(async (output) => {
  const items = listProfiles().map((name) => ({ name, url: addressOf(name), isCurrent: name === currentProfile() }))
  await printList(output, items, {
    PROFILE: ({ name }) => name,
    SERVICE: ({ url }) => url,
    CURRENT: ({ isCurrent }) => (isCurrent ? 'yes' : null),
  })
})

/** @returns null if the file is damaged. */
function addressOf(profile: string): string | null {
  try {
    return readLogin(profile)?.url ?? null
  } catch {
    return null
  }
}

export const whoami = withTimes(
  describe('whoami', 'Shows the organization, the user and the permissions of the API key.', [
    'whoami',
    'whoami --json',
  ]),
).action(async (options) => {
  const { url, apiKey } = currentLogin()
  const me = await connect({ url, apiKey }).me.retrieve()
  printProperties(
    options,
    { url, ...me },
    {
      service: url,
      organization: `${me.organization.name} (${me.organization.id})`,
      user: me.user && `${me.user.name} (${me.user.id})`,
      'API key': `${me.apiKey.name} (${me.apiKey.id})`,
      scopes: me.apiKey.scopes,
      projects: me.apiKey.projectIds ?? 'all',
      expires: time(me.apiKey.expiresAt) ?? 'never',
    },
  )
})

async function askUrl(): Promise<string> {
  if (!process.stdin.isTTY) throw new UsageError('--url is missing: standard input is not a terminal.')
  return (await ask('Service (https://…): ')).trim()
}
