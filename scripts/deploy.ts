/**
 * Takes an empty Cloudflare account to a running service; run again, it upgrades. What is there is left as it is
 * (docs/deploy.md).
 *
 *     npm run deploy [-- --env staging]
 *     npm run deploy -- --dry-run                        every resource and step; needs no account, changes nothing
 *     npm run deploy -- --organization Acme --user ada   whose the first key is; else "Workspace", and no user
 *     npm run deploy -- --location weur                  where a new database and a new bucket are
 *     npm run deploy -- --subdomain acme                 a new account's name below workers.dev
 *     npm run deploy -- --url https://api.example.com    where the service answers, if not where the upload says
 *     npm run deploy -- --config some/wrangler.toml
 */
import { parseArgs } from 'node:util'
import { checkDeployment, type Step, stepsOf } from './deploy-steps.ts'
import { parseUserId } from './first-key.ts'
import { argumentsOf } from './wrangler.ts'

const { values: options } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    env: { type: 'string' },
    organization: { type: 'string', default: 'Workspace' },
    user: { type: 'string' },
    location: { type: 'string' },
    subdomain: { type: 'string' },
    url: { type: 'string' },
    config: { type: 'string' },
  },
})
const deployment = { environment: options.env, config: options.config }

try {
  await deploy()
} catch (error) {
  console.error(wordsOf(error))
  process.exitCode = 1
}

async function deploy(): Promise<void> {
  const { organization, location, subdomain, url } = options
  const userId = parseUserId(options.user)
  if (options.user !== undefined && userId === undefined) throw new Error('--user: expected an id')
  if (organization === '') throw new Error('--organization: expected a name')
  const steps = stepsOf({ ...deployment, organization, userId, location, subdomain, url })
  for (const [index, step] of steps.entries()) {
    const heading = `${index + 1}/${steps.length} ${step.title}`
    if (options['dry-run']) show(heading, step)
    else await take(heading, step)
  }
  if (options['dry-run']) {
    console.log(
      `\n${checkDeployment(deployment)}\n\nThe configuration is valid. Nothing was made or changed.`,
    )
  }
}

function show(heading: string, { lines, commands }: Step): void {
  console.log(heading)
  for (const line of lines) console.log(`    ${line}`)
  for (const command of commands) {
    console.log(`    $ npm run wrangler -- ${argumentsOf(command, deployment).map(quoted).join(' ')}`)
  }
}

/** As a shell takes it. */
function quoted(word: string): string {
  return /^[\w./=@:-]+$/.test(word) ? word : `'${word}'`
}

async function take(heading: string, { run }: Step): Promise<void> {
  try {
    console.log(`${heading}: ${await run()}`)
  } catch (error) {
    throw new Error(
      `${heading}: failed\n\n${wordsOf(error)}\n\nWhat is done stays done: run the same command again, and it goes on from here.`,
    )
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n\n${wordsOf(error.cause)}`
}
