/** What the operator of the service has stopped, above every page. */
import { type Me, useMe } from '../api.ts'
import { Time } from '../components/time.tsx'
import styles from './stopped.module.css'

const WORDS: Record<Me['stopped'][number]['what'], string> = {
  firing: 'Schedules do not fire',
  deliveries: 'Runs and events are not sent',
  claims: 'Workers cannot claim runs',
  feeds: 'Feeds of skills do not answer',
}

export function Stopped() {
  // An API Worker that was rolled back does not say it.
  const { stopped = [] }: Partial<Me> = useMe()
  return (
    <div role="status">
      {stopped.length > 0 && (
        <div className={styles.stopped}>
          {stopped.map(({ what, since }) => (
            <p key={what}>
              {WORDS[what]}: stopped <Time at={since} /> by the operator of the service.
            </p>
          ))}
          <p className="quiet small">Nothing is lost.</p>
        </div>
      )}
    </div>
  )
}
