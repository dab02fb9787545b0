/**
 * All that `cli/`, `mcp/` and the pages in `console/web/` take from the service: the contracts that they use, how the
 * service checks and describes input, what it says of events, and when schedules fire. The console Worker, which signs
 * people in, takes the few modules that `scripts/checks/layers.ts` lists. Nothing of `src/` imports this module.
 */
export {
  BUNDLE_NAMES,
  BUNDLES,
  type Bundle,
  bundlesIn,
  bundleWith,
  MAX_GRANT_DAYS,
  scopesOfBundles,
} from './access/bundles.ts'
export { ROLE_NAMES, ROLES, type Role } from './access/roles.ts'
export type { Scope } from './access/scopes.ts'
export { problemOfCron } from './cron/expression.ts'
export { runsAfter } from './cron/next-run.ts'
export { isTimezone } from './cron/timezone.ts'
export { parseBody } from './http/body.ts'
export type { Contract } from './http/contract.ts'
export { boundedString, docs, externalId, isUuid, text } from './http/fields.ts'
export { measureJson } from './http/json-bounds.ts'
export { pageQuery, searchQuery } from './http/paging.ts'
export { describeProblem, describeProblems, describeSent, describeSize } from './http/problems.ts'
export { DELETED_TYPES } from './resources/deletions/contract.ts'
export {
  MAX_VARIABLES_PER_REQUEST,
  setEnvironmentVariablesContract,
} from './resources/environment-variables/contract.ts'
export { PREDICATES, sentenceOf } from './resources/events/delivery/sentences.ts'
export { cursorBefore } from './resources/events/sequence.ts'
export { retrieveMeContract } from './resources/me/contract.ts'
export {
  deletePinContract,
  listPinsContract,
  putPinContract,
  updatePinContract,
} from './resources/pins/contract.ts'
export {
  listSessionFilesContract,
  putSessionFileContract,
  retrieveSessionFileContentContract,
} from './resources/session-files/contract.ts'
export { type StoredContent, toContent } from './resources/skills/content.ts'
export {
  createSkillContract,
  ENTRY_FILE,
  listSkillsContract,
  retrieveSkillContract,
} from './resources/skills/contract.ts'
export { MAX_DESCRIPTION, skillFilename, skillName } from './resources/skills/fields.ts'
export { YAML_LIMITS } from './resources/skills/front-matter.ts'
export { describedBy } from './resources/skills/version.ts'
export { OUTCOMES } from './resources/work/outcomes.ts'
export {
  claimRunsContract,
  completeRunContract,
  listRunsContract,
  MAX_CLAIMED,
  renewRunContract,
  STATUS_FILTERS,
} from './resources/work/runs/contract.ts'
export {
  agentScheduleContracts,
  listSchedulesContract,
  previewScheduleContract,
  projectScheduleContracts,
} from './resources/work/schedules/contract.ts'
export { flattenClaims } from './sign-in/claims.ts'
