/** Stops a part of the service, or lets it go on (docs/operate.md). */
import './private-files.ts'
import { BRAKES } from '../src/brakes.ts'
import { isMissingTable } from '../src/db/failures.ts'
import { describeScript, getTarget, parsed, UsageError, withTarget } from '../tools/command-line.ts'
import { flagsOf } from '../tools/wrangler.ts'
import { insertOf, type Part, readStopped, release, releasing, stoppedText } from './brakes.ts'
import { Databases } from './databases.ts'
import { findOrganization } from './find-organization.ts'
import { requireStateFolder } from './state-folder.ts'

const script = withTarget(
  describeScript(
    'operate brake',
    'Stops firing, deliveries, claims or feeds from the next request or tick on, without a deployment. Nothing is lost.',
    ['firing --remote', 'claims --organization Acme --remote', 'firing --off --remote'],
  )
    .argument('<part>', `what to stop: ${BRAKES.join(', ')}`)
    .option('--organization <organization>', 'stop it for this organization alone: its ID or its name')
    .option('--off', 'let it go on'),
)
parsed(script)
const options = script.opts()
const [given] = script.args
const part = BRAKES.find((each) => each === given)
if (!part) throw new UsageError(`There is no such part; got "${given}"; allowed: ${BRAKES.join(', ')}.`)

const target = getTarget(options)
requireStateFolder(target)
const databases = await Databases.open(target)
try {
  await brake(part)
} finally {
  databases.close()
}

async function brake(part: Part): Promise<void> {
  const found = options.organization === undefined ? undefined : await findOrganization(databases, options.organization)
  const organizationId = found ? String(found.organization.id) : null
  const concerned = databases.all.filter(({ database }) => !found || database === found.database)
  const whose = found ? String(found.organization.name) : 'all organizations'
  const stopped = { what: part, since: new Date().toISOString(), organizationId }
  let isReleased = false
  for (const { number, database } of concerned) {
    try {
      if (!options.off) await database.batch([insertOf(stopped)])
      else if (await release(database, part, organizationId)) isReleased = true
    } catch (error) {
      const cause = isMissingTable(error)
        ? 'it has no brakes yet. Deploy this version first, or use the one that is deployed'
        : (error as Error).message
      throw new Error(`Database ${number}: ${cause}. Databases before it are changed. Run the same command again.`)
    }
  }
  if (options.off) console.log(`${named(part)} of ${whose} ${isReleased ? 'go on' : 'were not stopped'}.`)
  else {
    console.log(`${named(part)} of ${whose} are stopped. To let them go on: ${releasing(stopped, flagsOf(target))}`)
  }
  const others = (await readStopped(databases)).filter(
    (each) => each.what !== part || each.organizationId !== organizationId,
  )
  for (const other of others) console.log(`Stopped, too: ${stoppedText(other)}`)
}

function named(part: Part): string {
  return { firing: 'Schedules', deliveries: 'Deliveries', claims: 'Claims', feeds: 'Feeds' }[part]
}
