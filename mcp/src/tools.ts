/** THE LIST: every tool. Each is made from the contract of an operation, and one call is one request to the API. */
import { retrieveMeContract } from '../../src/resources/me/contract.ts'
import {
  deletePinContract,
  listPinsContract,
  putPinContract,
  updatePinContract,
} from '../../src/resources/pins/contract.ts'
import { completeRunContract, listRunsContract } from '../../src/resources/runs/contract.ts'
import {
  agentScheduleContracts,
  listSchedulesContract,
  previewScheduleContract,
  projectScheduleContracts,
} from '../../src/resources/schedules/contract.ts'
import {
  listSessionFilesContract,
  putSessionFileContract,
  retrieveSessionFileContentContract,
} from '../../src/resources/session-files/contract.ts'
import { listSkillsContract, retrieveSkillContract } from '../../src/resources/skills/contract.ts'
import { emptyFile, fileRange, readFile, readProperties, sentFile, writeProperties } from './session-files.ts'
import { loadProperties, loadSkill } from './skill-files.ts'
import { type Tool, tool } from './tool.ts'

export const TOOLS: readonly Tool[] = [
  tool('who_am_i', [retrieveMeContract]),

  tool('list_skills', [listSkillsContract], { hint: 'With `name`, finds one skill.' }),
  tool('load_skill', [retrieveSkillContract], {
    description:
      'Returns a file of a skill, and the names of all of its files. Read SKILL.md first and follow it.',
    extra: loadProperties,
    result: loadSkill,
  }),

  tool('list_session_files', [listSessionFilesContract]),
  tool('read_session_file', [retrieveSessionFileContentContract], {
    description: 'Returns the content of a file, or a part of it.',
    extra: readProperties,
    request: fileRange,
    result: readFile,
    recovered: emptyFile,
  }),
  tool('write_session_file', [putSessionFileContract], {
    description: 'Stores a file at a path. A file that exists there gets the new content.',
    extra: writeProperties,
    request: sentFile,
  }),

  tool('list_schedules', [listSchedulesContract]),
  tool('put_schedule', [projectScheduleContracts.put, agentScheduleContracts.put], {
    description:
      'Creates a schedule under an ID of your choice, or replaces its settings: fields that are left out get their defaults. ' +
      'Give `projectId` with `timezone`, or `agentId`; and `cron` or `runAt`.',
  }),
  tool('pause_schedule', [projectScheduleContracts.update, agentScheduleContracts.update], {
    description: 'Pauses or resumes a schedule of a project or an agent. Give `projectId` or `agentId`.',
    only: ['enabled'],
  }),
  tool('preview_schedule', [previewScheduleContract]),
  tool('list_runs', [listRunsContract]),
  tool('complete_run', [completeRunContract]),

  tool('list_pins', [listPinsContract]),
  tool('place_pin', [putPinContract, updatePinContract], {
    description:
      'Pins a session, pull request or project: at the end of the list, or, with `placement`, directly before or after another pin. ' +
      'With `placement`, a resource that is pinned already is moved.',
  }),
  tool('remove_pin', [deletePinContract]),
]
