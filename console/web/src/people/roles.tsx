/** Roles: what they allow, and the fields that choose one with its projects. */
import { ROLE_NAMES, ROLES } from '../../../../src/contracts.ts'
import { useCan } from '../api.ts'
import { Facts } from '../components/facts.tsx'
import fieldStyles from '../components/field.module.css'
import { Check } from '../components/field.tsx'
import { ProjectsField } from '../components/project-choice.tsx'
import { groupsOf, verbOf } from '../keys/purposes.ts'
import type { Access, Role } from '../sign-in-data.ts'
import styles from './people.module.css'

export const ROLE_WORDS: Readonly<Record<Role, { readonly name: string; readonly summary: string }>> = {
  viewer: { name: 'Viewer', summary: 'reads everything but the values of variables' },
  member: { name: 'Member', summary: 'also works: schedules, runs, skills, files of sessions, their pins and picture' },
  admin: { name: 'Admin', summary: 'everything, also people, keys and rules; but reads no values of variables' },
}

/** All roles with their permissions. */
export function Roles() {
  return (
    <section className={styles.body} aria-labelledby="roles">
      <h2 id="roles">Roles</h2>
      {ROLE_NAMES.map((role) => (
        <details key={role} className={styles.role}>
          <summary>
            <strong>{ROLE_WORDS[role].name}</strong> <span className="quiet">{ROLE_WORDS[role].summary}</span>
          </summary>
          <Facts facts={groupsOf(ROLES[role]).map(([resource, scopes]) => [resource, scopes.map(verbOf).join(', ')])} />
        </details>
      ))}
    </section>
  )
}

interface AccessFieldsProps {
  readonly access: Access
  readonly onChange: (access: Access) => void
}

/** The role, and the projects that it is restricted to: those that the session may give. */
export function AccessFields({ access: { role, projectIds }, onChange }: AccessFieldsProps) {
  const can = useCan()
  return (
    <>
      <fieldset>
        <legend>Role</legend>
        <div className={fieldStyles.field}>
          {ROLE_NAMES.map((each) => (
            <Check
              key={each}
              type="radio"
              isDisabled={!ROLES[each].every(can)}
              label={
                <>
                  {ROLE_WORDS[each].name} <span className="quiet small">{ROLE_WORDS[each].summary}</span>
                </>
              }
              isChecked={role === each}
              onChange={() => onChange({ role: each, projectIds })}
            />
          ))}
        </div>
      </fieldset>
      <ProjectsField projectIds={projectIds} onChange={(chosen) => onChange({ role, projectIds: chosen })} />
    </>
  )
}

/** Why the form of a role cannot be sent yet. */
export const problemOfAccess = ({ projectIds }: Access) =>
  projectIds?.length === 0 ? 'Choose the projects.' : undefined
