/** Names and values. Those without a value are left out. */
import type { ReactNode } from 'react'
import styles from './facts.module.css'

export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="anywhere">{value}</dd>
          </div>
        ))}
    </dl>
  )
}
