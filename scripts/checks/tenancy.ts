/**
 * Checks that every statement compares each table with the organization of its caller, and that the check would notice
 * if one of these comparisons were missing.
 */

import { describeScript, parsed } from '../../tools/command-line.ts'
import { allStatements } from '../all-statements.ts'
import { organizationComparisons, parseStatement, unboundTables } from './bound-tables.ts'

parsed(
  describeScript(
    'check tenancy',
    'Checks in the SQL of every statement of src/ that each table is bound to the organization of the caller or, without a caller, to the organization of the first row.',
    [''],
  ),
)

/**
 * Tables that a statement compares with another value than the organization, and why no row of another organization is
 * returned.
 */
const EXCEPTIONS: Readonly<Record<string, { readonly tables: readonly string[]; readonly reason: string }>> = {
  'src/objects/find-orphans.ts addUnreferencedToOrphans': {
    tables: ['sessionFiles', 'profilePictures', 'skillVersions'],
    reason: 'An object is orphaned if no row of any organization has its key, which is random.',
  },
  'src/objects/sweep.ts selectDue': {
    tables: ['sessionFiles', 'profilePictures', 'skillVersions', 'halts'],
    reason:
      'An object is orphaned if no row of any organization has its key, which is random and names its organization.',
  },
  'src/objects/sweep.ts selectReferenced': {
    tables: ['profilePictures', 'skillVersions'],
    reason: 'An object is orphaned if no row of any organization has its key, which is random.',
  },
  'src/db/directory.ts selectPlaces': {
    tables: ['directory'],
    reason: 'It is asked for the places of several organizations.',
  },
  'src/maintenance/purge.ts selectOrganizations': {
    tables: ['halts'],
    reason: 'It lists the organizations that have deletions to purge.',
  },
}

/**
 * Comparisons that bind nothing: the table is bound by another one, and the value is more than the ID of an
 * organization; or the statement begins with rows of several organizations, which the tick lists.
 */
const REDUNDANT = /"organizationId" = (\+?\?|\("organizations"\.value ->> 'id'\))/

const unusedExceptions = new Set(Object.keys(EXCEPTIONS))
const counts = { statements: 0, comparisons: 0, noticed: 0, redundant: 0 }
const problems: string[] = []

for (const { path, name, statement } of await allStatements()) {
  const label = `${path} ${name}`
  const exception = `${path} ${name.replace(/\.\d+$/, '')}`
  const parsedStatement = parseStatement(statement)
  const unbound = unboundTables(parsedStatement)
  const unexpected = unbound.filter((table) => !EXCEPTIONS[exception]?.tables.includes(table))
  if (unbound.length > 0) unusedExceptions.delete(exception)
  if (unexpected.length > 0) problems.push(`${label}: not bound to the organization: ${unexpected.join(', ')}`)
  counts.statements++
  for (const { condition, remove } of organizationComparisons(parsedStatement, statement)) {
    const putBack = remove()
    const isNoticed = unboundTables(parsedStatement).length > unbound.length
    putBack()
    counts.comparisons++
    if (isNoticed) counts.noticed++
    else if (REDUNDANT.test(condition)) counts.redundant++
    else if (EXCEPTIONS[exception]) unusedExceptions.delete(exception)
    else problems.push(`${label}: without this comparison, the check notices nothing: ${condition}`)
  }
}
for (const exception of unusedExceptions) problems.push(`${exception}: the exception is not needed`)

for (const problem of problems) console.error(problem)
console.log(
  `${counts.statements} statements with ${counts.comparisons} comparisons of organizations. Without one of them, the check fails for ${counts.noticed}; for ${counts.redundant}, another comparison binds the table.`,
)
if (problems.length > 0) process.exitCode = 1
