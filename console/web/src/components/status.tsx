/** States, told by shape and word as well as by color. */
import styles from './status.module.css'

export type Tone = 'good' | 'bad' | 'warning' | 'active' | 'idle'

/** A disc is good, a diamond bad, a triangle a warning, a half disc active, a ring idle. */
export function Mark({ tone }: { readonly tone: Tone }) {
  return (
    <svg className={styles.mark} data-tone={tone} viewBox="0 0 12 12" aria-hidden="true">
      {tone === 'good' && <Disc />}
      {tone === 'bad' && <Diamond />}
      {tone === 'warning' && <path d="M6 1.2 11.4 10.8H.6z" />}
      {tone === 'active' && (
        <>
          <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.5" />
          <path d="M6 1.8a4.2 4.2 0 0 1 0 8.4z" />
        </>
      )}
      {tone === 'idle' && <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.5" />}
    </svg>
  )
}

const Disc = () => <circle cx="6" cy="6" r="4.5" />
const Diamond = () => <path d="M6 .8 11.2 6 6 11.2 .8 6z" />

export function Status({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span className={styles.status}>
      <Mark tone={tone} />
      {children}
    </span>
  )
}

/** The width of a mark and the gap behind it. */
const OUTCOME_WIDTH = 14

const SHAPES = { succeeded: 'm1.5 6a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z', failed: 'm6 .8 5.2 5.2-5.2 5.2-5.2-5.2z' }

/** The marks of all runs with an outcome. */
const shapesOf = (outcome: keyof typeof SHAPES, outcomes: readonly (keyof typeof SHAPES)[]) =>
  outcomes
    .toReversed()
    .map((each, index) => (each === outcome ? `M${index * OUTCOME_WIDTH} 0${SHAPES[outcome]}` : ''))
    .join('')

/** The outcomes of the last runs, the latest on the right. */
export function Outcomes({ outcomes }: { readonly outcomes: readonly ('succeeded' | 'failed')[] }) {
  if (outcomes.length === 0) return <span className="quiet">none finished</span>
  const failures = outcomes.filter((outcome) => outcome === 'failed').length
  const last = outcomes.length === 1 ? 'The last run' : `The last ${outcomes.length} runs`
  const label = `${last}: ${failures === 0 ? 'all succeeded' : `${failures} failed`}; the latest ${outcomes[0]}`
  const width = outcomes.length * OUTCOME_WIDTH - 2
  return (
    // Two paths, because a thousand rows with ten shapes each would scroll with jerks.
    <svg
      className={styles.outcomes}
      viewBox={`0 0 ${width} 12`}
      width={width}
      height="12"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {(['succeeded', 'failed'] as const).map((outcome) => (
        <path key={outcome} data-outcome={outcome} d={shapesOf(outcome, outcomes)} />
      ))}
    </svg>
  )
}
