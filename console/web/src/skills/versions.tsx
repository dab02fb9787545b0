/** The versions of a skill, and who made them. */
import { Link } from '@tanstack/react-router'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import { useName } from '../names.ts'
import { shortId } from '../short-id.ts'
import { type VersionSummary, versionBefore } from './data.ts'
import styles from './skill.module.css'

export function Author({ version: { userId, apiKeyId } }: { readonly version: VersionSummary }) {
  const name = useName('users', userId)
  return <bdi>{userId === null ? `API key ${shortId(apiKeyId)}` : (name ?? userId)}</bdi>
}

/** What was said about it. */
export function Message({ version: { message, version } }: { readonly version: VersionSummary }) {
  if (message !== null) return <bdi>{message}</bdi>
  return <span className="quiet">{version === 1 ? 'first version' : 'no message'}</span>
}

interface VersionsProps {
  readonly skillId: string
  readonly versions: readonly VersionSummary[]
  /** Undefined: the session may only read. */
  readonly onPublish: ((version: number) => void) | undefined
}

export function Versions({ skillId, versions, onPublish }: VersionsProps) {
  return (
    <table>
      <thead>
        <tr>
          <th>Version</th>
          <th>What changed</th>
          <th className="wide-only">By</th>
          <th className="wide-only">When</th>
          {onPublish && (
            <th>
              <span className="only-read-aloud">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {versions.map((version) => {
          const before = versionBefore(versions, version.version)
          return (
            <tr key={version.version}>
              <td className={styles.number}>
                <Link
                  className="row-link"
                  to="/skills/$skillId"
                  params={{ skillId }}
                  search={{ version: version.version }}
                >
                  Version {version.version}
                </Link>
                {version.isCurrent && <Status tone="good">current</Status>}
              </td>
              <td className="anywhere">
                <Message version={version} />
                <div className={`quiet small ${styles.narrow}`}>
                  <Author version={version} />, <Time at={version.createdAt} />
                </div>
                {before !== undefined && (
                  <div>
                    <Link
                      className="small"
                      to="/skills/$skillId"
                      params={{ skillId }}
                      search={{ from: before, to: version.version }}
                      aria-label={`Changes of version ${version.version}`}
                    >
                      Changes
                    </Link>
                  </div>
                )}
              </td>
              <td className="wide-only anywhere">
                <Author version={version} />
              </td>
              <td className={`wide-only ${styles.number}`}>
                <Time at={version.createdAt} />
              </td>
              {onPublish && (
                <td className={styles.menu}>
                  {!version.isCurrent && (
                    <button
                      type="button"
                      aria-label={`Publish version ${version.version} again`}
                      onClick={() => onPublish(version.version)}
                    >
                      Publish
                    </button>
                  )}
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}
