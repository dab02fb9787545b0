/** Lists, adds, closes and opens the databases of a deployment (docs/operate.md). */
import './private-files.ts'
import { describeScript, getTarget, parsed, UsageError, withTarget } from '../tools/command-line.ts'
import type { Target } from '../tools/wrangler.ts'
import { databaseNameOf } from './database.ts'
import { Databases } from './databases.ts'
import { runSteps, stepsOf } from './deploy-steps.ts'
import { countLocalDatabases, prepareLocalDatabases } from './local-databases.ts'
import { migrationNames, readMigrations } from './migrations.ts'
import { databaseLines } from './overview.ts'
import { requireStateFolder } from './state-folder.ts'

const NUMBER = ['<number>', 'the number of a database, which `list` shows'] as const

const script = withTarget(
  describeScript(
    'operate database',
    'Lists the databases of a deployment, adds one, and says which get new organizations.',
    ['list --remote', 'add --location weur --remote', 'close 0 --remote'],
  ),
)
script
  .command('list')
  .description('show the size, the organizations and the schema of each database')
  .option('--json', 'print JSON')
  .action(({ json }) => list(json === true))
script
  .command('add')
  .description('create one more database and deploy the service with it; after a failure, run it again')
  .option('--location <hint>', 'with --remote: the location of the database, such as weur')
  .option('--url <address>', 'with --remote: the address of the service; default: where the upload puts it')
  .option('--no-console', 'with --remote: deploy without the console')
  .action((options) => add(options))
script
  .command('close')
  .description('give it no new organizations')
  .argument(...NUMBER)
  .action((given) => setState(given, 'closed'))
script
  .command('open')
  .description('give it new organizations again, until it is 70 % full')
  .argument(...NUMBER)
  .action((given) => setState(given, 'open'))

script.argument('[command]', 'one of the commands below').action((command) => {
  const allowed = 'allowed: list, add, close, open.'
  throw new UsageError(
    command === undefined
      ? `Missing required argument 'command'; ${allowed}`
      : `Unknown command '${command}'; ${allowed}`,
  )
})

parsed(script)

async function withDatabases(work: (databases: Databases, target: Target) => Promise<void>): Promise<void> {
  const target = getTarget(script.opts())
  requireStateFolder(target)
  const databases = await Databases.open(target)
  try {
    await work(databases, target)
  } finally {
    databases.close()
  }
}

function list(isJson: boolean): Promise<void> {
  return withDatabases(async (databases, target) => {
    const newest = migrationNames().at(-1)
    const organizations = await databases.rows('SELECT "id" FROM "organizations"')
    const isHere = await Promise.all(
      organizations.map(({ id, inDatabase }) => databases.isPlace(String(id), inDatabase)),
    )
    const overviews = await databases.map(async (database, number) => {
      const migration = String((await readMigrations(database)).applied?.at(-1))
      const { name, state } = databases.find(number)
      return {
        number,
        name,
        state,
        sizeBytes: await database.sizeBytes(),
        organizations: organizations.filter(({ inDatabase }, index) => inDatabase === number && isHere[index]).length,
        schema: `${migration}${migration === newest ? ', current' : ''}`,
      }
    })
    const named = overviews.map((each) => ({ ...each, name: each.name ?? databaseNameOf(target, each.number) }))
    console.log(isJson ? JSON.stringify(named, null, 2) : databaseLines(named).join('\n'))
    for (const { number } of databases.adding) {
      console.log(`Database ${number} is not complete. To continue: npm run operate -- database add`)
    }
  })
}

interface AddOptions {
  readonly location?: string | undefined
  readonly url?: string | undefined
  readonly console: boolean
}

async function add({ location, url, console: hasConsole }: AddOptions): Promise<void> {
  const target = getTarget(script.opts())
  if (!target.remote) return addLocal(target)
  const { environment, config } = target
  const deployment = { environment, config }
  const first = { organization: 'Workspace', userId: undefined }
  await runSteps(
    stepsOf({ ...deployment, ...first, location, url, subdomain: undefined, claim: true, console: hasConsole }, true),
  )
}

/** `npm run dev` serves it from its next start. */
async function addLocal(target: Target): Promise<void> {
  requireStateFolder(target)
  const count = await prepareLocalDatabases(target, (await countLocalDatabases(target)) + 1)
  console.log(`Database ${count - 1} was added. Restart \`npm run dev\` to serve it.`)
}

function setState(given: string, state: 'open' | 'closed'): Promise<void> {
  return withDatabases(async (databases) => {
    const number = databases.numbers.find((each) => String(each) === given)
    if (number === undefined)
      throw new UsageError(
        `There is no database with this number; got "${given}"; allowed: ${databases.numbers.join(', ')}.`,
      )
    await databases.first.batch([
      {
        sql: `INSERT INTO "databases" ("number", "state") VALUES (?, ?)
          ON CONFLICT ("number") DO UPDATE SET "state" = excluded."state"`,
        parameters: [number, state],
      },
    ])
    const effect = state === 'closed' ? 'gets no new organizations' : 'gets new organizations until it is 70 % full'
    console.log(`Database ${number} ${effect}.`)
  })
}
