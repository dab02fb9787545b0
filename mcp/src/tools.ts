/**
 * Every tool. Each is made from the contract of an operation, and one call is one request to the API, unless
 * `complete` makes others.
 */
import {
  agentScheduleContracts,
  completeRunContract,
  deletePinContract,
  listPinsContract,
  listRunsContract,
  listSchedulesContract,
  listSessionFilesContract,
  listSkillsContract,
  previewScheduleContract,
  projectScheduleContracts,
  putPinContract,
  putSessionFileContract,
  renewRunContract,
  retrieveMeContract,
  retrieveSessionFileContentContract,
  retrieveSkillContract,
  updatePinContract,
} from '../../src/contracts.ts'
import { findProperties, listOf, listsByType } from './find.ts'
import {
  claimedRun,
  claimOneRun,
  createProperties,
  describeExisting,
  leaseProperties,
  withScheduleId,
} from './schedules.ts'
import {
  emptyFile,
  fileRange,
  readFile,
  readProperties,
  sentFile,
  withFileId,
  writeProperties,
} from './session-files.ts'
import { loadProperties, loadSkill, withSkillId } from './skill-files.ts'
import { type Tool, tool } from './tool.ts'

export const TOOLS: readonly Tool[] = [
  tool('who_am_i', [retrieveMeContract]),
  tool('find', listsByType, {
    description:
      'Finds projects, agents or sessions, and their IDs: those whose name contains `query`; all without it.',
    extra: findProperties,
    operationOf: listOf,
  }),

  tool('list_skills', [listSkillsContract], {
    description: 'Lists skills, without their files. With `name`, finds one; with `query`, searches names.',
  }),
  tool('load_skill', [retrieveSkillContract], {
    description:
      'Returns a file of a skill, found by `name` or `skillId`, and the names of all of its files. Read SKILL.md first and follow it.',
    extra: loadProperties,
    complete: withSkillId,
    result: loadSkill,
  }),

  tool('list_session_files', [listSessionFilesContract]),
  tool('read_session_file', [retrieveSessionFileContentContract], {
    description: 'Returns the content of a file, or a part of it.',
    extra: readProperties,
    complete: withFileId,
    request: fileRange,
    result: readFile,
    recovered: emptyFile,
  }),
  tool('write_session_file', [putSessionFileContract], {
    description: 'Stores a file at a path. A file that exists there gets the new content.',
    extra: writeProperties,
    request: sentFile,
  }),

  tool('list_schedules', [listSchedulesContract, projectScheduleContracts.list, agentScheduleContracts.list], {
    description:
      'Lists schedules. With `projectId` or `agentId`, and without filters: those of one, with all settings and payloads.',
  }),
  tool('create_schedule', [projectScheduleContracts.put, agentScheduleContracts.put], {
    description:
      'Creates a schedule of a project or an agent. Give `projectId` with `timezone`, or `agentId`, whose time zone is UTC; and `cron` or `runAt`. A repeated call creates nothing.',
    extra: createProperties,
    complete: withScheduleId,
    onlyCreates: true,
    sentence: describeExisting,
  }),
  tool('update_schedule', [projectScheduleContracts.update, agentScheduleContracts.update], {
    description:
      'Changes, pauses or resumes a schedule: settings that are left out stay as they are. Give `projectId` or `agentId`.',
  }),
  tool('preview_schedule', [previewScheduleContract]),
  tool('list_runs', [listRunsContract]),
  tool('claim_run', [claimOneRun], {
    description: 'Takes the oldest pending run, so that nobody else gets it, with its payload: what there is to do.',
    extra: leaseProperties,
    result: claimedRun,
  }),
  tool('renew_run', [renewRunContract], { extra: leaseProperties }),
  tool('complete_run', [completeRunContract]),

  tool('list_pins', [listPinsContract]),
  tool('place_pin', [putPinContract, updatePinContract], {
    description:
      'Pins a session, pull request or project: at the end of the list, or, with `placement`, directly before or after another pin. ' +
      'With `placement`, a resource that is pinned already is moved.',
  }),
  tool('remove_pin', [deletePinContract]),
]
