/** Deploys the service to a Cloudflare account, and upgrades it when run again (docs/deploy.md). */
import { describeScript, parsed, UsageError } from '../tools/command-line.ts'
import { toArguments } from '../tools/wrangler.ts'
import { checkDeployment, type DeployOptions, runSteps, type Step, stepsOf } from './deploy-steps.ts'
import { checkAccount } from './deployment-check.ts'

const options = parsed(
  describeScript(
    'deploy',
    'Deploys the service to a Cloudflare account, and upgrades it when run again. Existing resources are not changed (docs/deploy.md).',
    ['', '--dry-run', '--check', '--env staging --organization Acme --user ada'],
  )
    .option('--dry-run', 'list every resource and step; needs no account and changes nothing')
    .option(
      '--check',
      'compare the account with the configuration; changes nothing, and exits with 1 if something differs',
    )
    .option('--env <name>', 'the environment in wrangler.toml, such as staging')
    .option('--config <file>', 'a configuration file instead of wrangler.toml')
    .option('--organization <name>', 'the organization of the first key', 'Workspace')
    .option('--user <id>', 'the user of the first key; default: no user')
    .option('--location <hint>', 'the location of a new database and bucket, such as weur')
    .option('--subdomain <name>', 'the workers.dev subdomain of a new account')
    .option('--url <address>', 'the address of the service; default: where the upload puts it')
    .option(
      '--claim',
      'print a link that shows the first key once, instead of the key; default: if there is no terminal',
    )
    .option('--no-console', 'deploy without the console'),
).opts()
const deployment = { environment: options.env, config: options.config }

await deploy()

async function deploy(): Promise<void> {
  const { organization, location, subdomain, url } = options
  const userId = options.user === undefined ? undefined : (await import('./first-key.ts')).parseUserId(options.user)
  if (options.user !== undefined && userId === undefined)
    throw new UsageError(`--user is not a user ID; got "${options.user}".`)
  // Without a terminal, the output usually ends in the log of a build.
  const claim = options.claim === true || !process.stdout.isTTY
  const chosen = { ...deployment, organization, userId, location, subdomain, url, claim, console: options.console }
  if (options.check) return check(chosen)
  const steps = stepsOf(chosen)
  if (!options.dryRun) return runSteps(steps)
  for (const [index, step] of steps.entries()) printStep(`${index + 1}/${steps.length} ${step.title}`, step)
  console.log(
    `\n${checkDeployment(deployment, options.console)}\n\nThe configuration is valid. Nothing was created or changed.`,
  )
}

async function check(chosen: DeployOptions): Promise<void> {
  const differences = await checkAccount(chosen)
  if (differences > 0) process.exitCode = 1
  console.log(
    differences === 0 ? '\nEverything is as configured.' : `\n${differences} of these differ. Nothing was changed.`,
  )
}

function printStep(heading: string, { lines, commands, deployment: own = deployment }: Step): void {
  console.log(heading)
  for (const line of lines) console.log(`    ${line}`)
  for (const command of commands) {
    console.log(`    $ npm run wrangler -- ${toArguments(command, own).map(quoted).join(' ')}`)
  }
}

/** Quotes an argument for a shell. */
function quoted(argument: string): string {
  return /^[\w./=@:-]+$/.test(argument) ? argument : `'${argument}'`
}
