/** What a change ends, said before it is made. */

import { type Identity, useIsOwn } from '../sign-in-data.ts'
import styles from './people.module.css'

const NAMED = 10

interface WhatEndsProps {
  readonly people: readonly Identity[]
  /** Otherwise the dialog names the one person. */
  readonly areNamed?: boolean
  /** What they can do then. */
  readonly after: string
}

export function WhatEnds({ people, areNamed = false, after }: WhatEndsProps) {
  const isOwn = useIsOwn()(people)
  if (people.length === 0) return <p className="quiet">Nobody has signed in by it.</p>
  const further = people.length - NAMED
  return (
    <section className={styles.body} aria-label="What ends with it">
      <p>
        {areNamed
          ? 'At once, the sign-ins and the connected apps of these people end, and the API keys that they created:'
          : `At once, their sign-ins and their connected apps end, and the API keys that they created. ${after}`}
      </p>
      {areNamed && (
        <>
          <ul className={styles.names}>
            {people.slice(0, NAMED).map(({ id, userName, email }) => (
              <li key={id} className="anywhere">
                <bdi>{userName}</bdi>
                {email && <span className="quiet"> {email}</span>}
              </li>
            ))}
            {further > 0 && <li className="quiet">and {further} more</li>}
          </ul>
          <p>{after}</p>
        </>
      )}
      {isOwn && (
        <p className={styles.warning}>
          {areNamed ? 'You are one of them: you are signed out.' : 'This is you: you are signed out.'}
        </p>
      )}
    </section>
  )
}
