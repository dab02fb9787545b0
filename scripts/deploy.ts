/**
 * Deploys the service to a Cloudflare account, and upgrades it when run again. Existing resources are not changed
 * (docs/deploy.md).
 *
 *     npm run deploy [-- --env staging]
 *     npm run deploy -- --dry-run                        lists every resource and step; needs no account,
 * changes nothing
 *     npm run deploy -- --organization Acme --user ada   for the first key; default: "Workspace", no user
 *     npm run deploy -- --location weur                  location of a new database and bucket
 *     npm run deploy -- --subdomain acme                 the workers.dev subdomain of a new account
 *     npm run deploy -- --url https://api.example.com    the address of the service, if the upload reports another
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
  console.error(messageOf(error))
  process.exitCode = 1
}

async function deploy(): Promise<void> {
  const { organization, location, subdomain, url } = options
  const userId = parseUserId(options.user)
  if (options.user !== undefined && userId === undefined)
    throw new Error(`--user is not a user ID; got "${options.user}".`)
  if (organization === '') throw new Error('--organization is empty; allowed: a name.')
  const steps = stepsOf({ ...deployment, organization, userId, location, subdomain, url })
  for (const [index, step] of steps.entries()) {
    const heading = `${index + 1}/${steps.length} ${step.title}`
    if (options['dry-run']) printStep(heading, step)
    else await runStep(heading, step)
  }
  if (options['dry-run']) {
    console.log(
      `\n${checkDeployment(deployment)}\n\nThe configuration is valid. Nothing was created or changed.`,
    )
  }
}

function printStep(heading: string, { lines, commands }: Step): void {
  console.log(heading)
  for (const line of lines) console.log(`    ${line}`)
  for (const command of commands) {
    console.log(`    $ npm run wrangler -- ${argumentsOf(command, deployment).map(quoted).join(' ')}`)
  }
}

/** Quotes an argument for a shell. */
function quoted(argument: string): string {
  return /^[\w./=@:-]+$/.test(argument) ? argument : `'${argument}'`
}

async function runStep(heading: string, { run }: Step): Promise<void> {
  try {
    console.log(`${heading}: ${await run()}`)
  } catch (error) {
    throw new Error(
      `${heading}: failed\n\n${messageOf(error)}\n\nThe steps before this one are done. To continue from here, run the same command again.`,
    )
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message}\n\n${messageOf(error.cause)}`
}
