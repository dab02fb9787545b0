/**
 * Sign-in with GitHub and Cloudflare Access in Chromium. test/node/ has those that misbehave.
 * @module-tag slow
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { EXAMPLE_IDS } from '../../../src/http/example-ids.ts'
import { launchChromium, newPage, type Observed } from '../../../test/browser/chromium.ts'
import { expectQuiet } from '../../../test/browser/console.ts'
import { assertion, startTeam, type Team } from '../access-team.ts'
import { type Console, startConsole } from '../console.ts'
import { CLIENT_ID, CLIENT_SECRET, type GitHubs, startGitHubs } from '../github.ts'
import { expectAccessible } from './axe.ts'
import { senderOf } from './people.ts'

const AUDIENCE = '32eafc7626e974616deaf0dc3ce63d7bcbed58a2731e84d06bc3cdf1b53c4228'

let team: Team
let githubs: GitHubs
let running: Console
let browser: Browser
let seen: Observed
let page: Page

beforeAll(async () => {
  ;[team, githubs] = await Promise.all([startTeam(), startGitHubs()])
  const organization = EXAMPLE_IDS.organizationId
  const github = {
    id: 'github',
    name: 'GitHub',
    type: 'github',
    issuer: githubs.issuerOf('main'),
    client_id: CLIENT_ID,
  }
  const access = { id: 'access', name: 'Access', type: 'access', team_domain: team.domain, audience: AUDIENCE }
  const settings = [github, access].map((each) => ({ ...each, organization }))
  const variables = [`SIGN_IN_PROVIDERS:${JSON.stringify(settings)}`, `SIGN_IN_SECRET_GITHUB:${CLIENT_SECRET}`]
  running = await startConsole(...variables.flatMap((variable) => ['--var', variable]))
  const send = senderOf(running.demo.baseUrl, running.demo.apiKey)
  const rules = [
    { issuer: team.domain, claim: 'groups', value: 'engineers' },
    { issuer: githubs.issuerOf('main'), claim: 'organization', value: 'acme' },
  ]
  for (const rule of rules) await send('POST', '/v1/sign-in-rules', { ...rule, role: 'viewer' })
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await running.stop()
  await Promise.all([team.stop(), githubs.stop()])
})
afterEach(async () => {
  await seen.page.context().close()
})

async function open(path: string): Promise<void> {
  seen = await newPage(browser)
  page = seen.page
  await page.goto(`${running.url}${path}`)
  await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
}

const continueWith = (name: string) => page.getByRole('link', { name: `Continue with ${name}` }).click()

/** On the page that the person wanted. */
async function expectSignedIn(name: string): Promise<void> {
  await page.getByRole('heading', { name: 'Schedules' }).waitFor()
  expect(page.url()).toBe(`${running.url}/schedules`)
  const me = await page.evaluate(async () => await (await fetch('/api/v1/me')).json())
  expect(me).toMatchObject({ user: { name }, apiKey: { kind: 'session' } })
}

/** The pages asked nobody but the console; only the person was at GitHub. @param expected besides a missing session. */
function expectNothingElse(...expected: readonly RegExp[]): void {
  const allowed = [`${running.url}/`, `${githubs.issuerOf('main')}/login/oauth/authorize?`]
  const foreign = seen.requested.filter((url) => !allowed.some((start) => url.startsWith(start)))
  const problems = () => [...seen.complaints, ...foreign]
  expectQuiet({ page, problems, close: async () => undefined }, [/status of 401/, ...expected])
}

it('shows somebody whom no rule admits why a GitHub organization may be missing, and lets them in when it is there', async () => {
  await open('/schedules')
  await continueWith('GitHub')
  const problem = page.getByRole('alert')
  await problem.getByText('You have no access').waitFor()
  expect(await problem.textContent()).toContain('one of its owners has to approve this app')
  expect(await problem.textContent()).toContain('What GitHub says of you')
  await expectAccessible(page)
  githubs.at('main').orgs = [[{ login: 'acme' }]]
  await continueWith('GitHub')
  await expectSignedIn('Ada Lovelace')
  expectNothingElse(/status of 403/)
})

it('signs in with what Access adds to the request', async () => {
  team.identity = { name: 'Grace Hopper', groups: ['engineers'] }
  await open('/schedules')
  await page.route('**/sign-in/start/access**', async (route) => {
    const headers = { ...route.request().headers(), 'Cf-Access-Jwt-Assertion': assertion(team, AUDIENCE) }
    await route.continue({ headers })
  })
  await continueWith('Access')
  await expectSignedIn('Grace Hopper')
  expectNothingElse()
})

it('says that Access does not protect the address', async () => {
  await open('/')
  await continueWith('Access')
  const problem = page.getByRole('alert')
  await problem.getByText('The response of Access is not valid').waitFor()
  expect(await problem.textContent()).toContain('The request has no Cf-Access-Jwt-Assertion')
  expect(new URL(page.url()).pathname).toBe(`/sign-in/${EXAMPLE_IDS.organizationId}`)
  expectNothingElse(/status of 502/)
})
