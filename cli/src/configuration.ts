/**
 * The service and the API key: those of `--profile`, or else of the environment, or else those that `workspace login`
 * stored.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { problemOfAddress, problemOfApiKey } from '../../client/src/address.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { failure, replaceFile } from './local-files.ts'

export interface Login {
  /** Without a slash at its end. */
  readonly url: string
  readonly apiKey: string
}

const DEFAULT_PROFILE = 'default'
let selected: string | undefined

/** @param name the value of `--profile`. */
export function selectProfile(name: string | undefined): void {
  if (name !== undefined) selected = validProfile(name, '--profile')
}

/** With `--profile`, the service and the API key of the environment are not used. */
export function usesEnvironment(): boolean {
  return selected === undefined
}

/** The name of the stored login that commands use, unless the environment has another one. */
export function currentProfile(): string {
  return selected ?? validProfile(process.env.WORKSPACE_PROFILE || DEFAULT_PROFILE, 'WORKSPACE_PROFILE')
}

/** What replaces that login. */
export function loginCommand(): string {
  return selected === undefined ? 'workspace login' : `workspace login --profile ${selected}`
}

/** The names of the stored logins. */
export function listProfiles(): string[] {
  const folder = dirname(loginFile())
  const files = existsSync(folder) ? readdirSync(folder) : []
  const names = files.map((file) => (file === 'login.json' ? DEFAULT_PROFILE : /^login\.(.+)\.json$/.exec(file)?.[1]))
  return names.filter((name) => name !== undefined).sort()
}

/** A name becomes part of a filename. */
function validProfile(name: string, option: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(name)) return name
  throw new UsageError(`${option} is not a name; got "${name}"; allowed: up to 64 letters, digits, "-" and "_".`)
}

/** @throws if one of the two is missing. A stored API key is sent only to the service that it was stored for. */
export function currentLogin(): Login {
  if (selected !== undefined) {
    const login = readLogin()
    if (login) return login
    throw new UsageError(`There is no login "${selected}". Run \`${loginCommand()}\`.`)
  }
  // A damaged file must not matter where the environment has both.
  const { WORKSPACE_URL, WORKSPACE_API_KEY } = process.env
  const stored = WORKSPACE_URL && WORKSPACE_API_KEY ? undefined : readLogin()
  const url = process.env.WORKSPACE_URL ? serviceUrl(process.env.WORKSPACE_URL, 'WORKSPACE_URL') : stored?.url
  const apiKey = process.env.WORKSPACE_API_KEY || (url === stored?.url ? stored?.apiKey : undefined)
  if (apiKey && url) return { url, apiKey: validApiKey(apiKey, 'WORKSPACE_API_KEY') }
  if (apiKey) throw new UsageError('There is no service. Set WORKSPACE_URL, or run `workspace login`.')
  const service = url === undefined ? '' : ` for ${url}`
  throw new UsageError(
    `There is no API key${service}. Set WORKSPACE_API_KEY and WORKSPACE_URL, or run \`workspace login\`.`,
  )
}

/** What `workspace login` stored. @returns undefined if nobody logged in. */
export function readLogin(profile = currentProfile()): Login | undefined {
  const file = loginFile(profile)
  try {
    const { url, apiKey } = JSON.parse(readFileSync(file, 'utf8'))
    return {
      url: serviceUrl(String(url), `The url in ${file}`),
      apiKey: validApiKey(String(apiKey), `The apiKey in ${file}`),
    }
  } catch (error) {
    if (error instanceof UsageError) throw new Error(`${error.message} Run \`workspace login\`.`)
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const { message } = error instanceof SyntaxError ? new Error(`${file} is not JSON.`) : failure(file, 'read', error)
    throw new Error(`${message} Run \`workspace login\`.`)
  }
}

/** Only the user can read the file. @returns the file. */
export async function storeLogin(login: Login): Promise<string> {
  const file = loginFile()
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  } catch (error) {
    throw failure(file, 'written', error)
  }
  await replaceFile(file, `${JSON.stringify(login, null, 2)}\n`, 0o600)
  return file
}

/** Removes the file, also if it is damaged. */
export function removeLogin(): { file: string; wasLoggedIn: boolean } {
  const file = loginFile()
  try {
    rmSync(file)
    return { file, wasLoggedIn: true }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { file, wasLoggedIn: false }
    throw failure(file, 'removed', error)
  }
}

function loginFile(profile = currentProfile()): string {
  const name = profile === DEFAULT_PROFILE ? 'login.json' : `login.${profile}.json`
  return join(configurationFolder(), 'workspace', name)
}

/** Where the platform keeps the configuration of a user. */
function configurationFolder(): string {
  const { APPDATA, XDG_CONFIG_HOME } = process.env
  if (process.platform === 'win32') return APPDATA || join(homedir(), 'AppData', 'Roaming')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support')
  return XDG_CONFIG_HOME || join(homedir(), '.config')
}

/** @param name of the setting. @returns the address without a slash at its end. @throws if it is not valid. */
export function serviceUrl(address: string, name: string): string {
  const problem = problemOfAddress(address)
  if (problem) throw new UsageError(`${name} ${problem}`)
  if (/^https?:\/\//i.test(address) && URL.canParse(address)) return new URL(address).href.replace(/\/+$/, '')
  // Before "@", even an address that is not valid may have a password.
  const sent = address.includes('@') ? 'text with "@"' : `"${address}"`
  throw new UsageError(`${name} is not an http or https address; got ${sent}; example: https://api.example.com.`)
}

/** @param name of the setting. @throws if it is not valid, without repeating it. */
export function validApiKey(apiKey: string, name: string): string {
  const problem = problemOfApiKey(apiKey)
  if (problem) throw new UsageError(`${name} ${problem}`)
  return apiKey
}
