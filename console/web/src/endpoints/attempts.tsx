/** The last attempts to deliver something, the latest first. */
import type { ReactNode } from 'react'
import { Status } from '../components/status.tsx'
import { Time } from '../components/time.tsx'
import type { Attempt } from './data.ts'
import styles from './endpoints.module.css'

interface AttemptsProps {
  readonly attempts: readonly (Attempt & { readonly id?: string; readonly about?: ReactNode })[]
  /** What they are about, if that is shown. */
  readonly heading?: string
}

export function Attempts({ attempts, heading }: AttemptsProps) {
  if (attempts.length === 0) return <p className="quiet">Nothing was sent yet.</p>
  return (
    <table>
      <thead>
        <tr>
          <th>Response</th>
          {heading && <th>{heading}</th>}
          <th>Sent</th>
          <th>Took</th>
          <th className="wide-only">Error</th>
        </tr>
      </thead>
      <tbody>
        {attempts.map(({ id, startedAt, status, milliseconds, error, about }) => (
          <tr key={id ?? startedAt}>
            <td>
              <Status tone={error === null ? 'good' : 'bad'}>{status === null ? 'none' : String(status)}</Status>
              {error !== null && <div className={`quiet small anywhere ${styles.narrow}`}>{error}</div>}
            </td>
            {heading && <td className="anywhere">{about}</td>}
            <td className={styles.short}>
              <Time at={startedAt} />
            </td>
            <td className={styles.short}>{milliseconds} ms</td>
            <td className="wide-only anywhere">{error}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
