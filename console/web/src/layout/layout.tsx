/** What all pages have around them: the navigation, the person, the keys. */
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useMe } from '../api.ts'
import { useLiveUpdates } from '../live.ts'
import { showMessage } from '../messages.ts'
import { takeIsOther } from '../session-end.ts'
import { KeyHelp, useKeys } from './keys.tsx'
import styles from './layout.module.css'
import { PAGES } from './pages.ts'
import { Person } from './person.tsx'
import { Stopped } from './stopped.tsx'

export function Layout() {
  const [showsKeys, setShowsKeys] = useState(false)
  const { user, apiKey } = useMe()
  const name = user?.name ?? apiKey.name
  useLiveUpdates()
  useEffect(() => {
    if (takeIsOther()) showMessage(`Signed in as ${name}. What somebody else typed here before is kept for them.`)
  }, [name])
  useKeys(() => setShowsKeys(true))
  return (
    <div className={styles.layout}>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <Navigation onShowKeys={() => setShowsKeys(true)} />
      <div>
        <Stopped />
        <Outlet />
      </div>
      {showsKeys && <KeyHelp onClose={() => setShowsKeys(false)} />}
    </div>
  )
}

function Navigation({ onShowKeys }: { readonly onShowKeys: () => void }) {
  const { organization } = useMe()
  const details = useRef<HTMLDetailsElement>(null)
  const address = useRouterState({ select: ({ location }) => location.href })
  const isSchedule = useRouterState({ select: ({ location }) => IS_SCHEDULE.test(location.pathname) })
  const isWide = useIsWide()
  // On a narrow screen, the list closes when it has been used.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new address closes it.
  useEffect(() => {
    if (details.current && !isWide) details.current.open = false
  }, [address, isWide])
  return (
    <details ref={details} className={styles.side} open={isWide}>
      <summary className={styles.brand}>
        <img src="/icon.svg" alt="" width="20" height="20" />
        <span className={styles.organization}>{organization.name}</span>
        <span className="only-read-aloud">, navigation</span>
        <MenuIcon className={styles.burger} size={20} aria-hidden="true" />
      </summary>
      <nav aria-label="Pages">
        <ul className={styles.pages}>
          {PAGES.map(({ to, name, Icon }) => (
            <li key={to}>
              <Link
                to={to}
                className={styles.page}
                activeOptions={{ exact: to === '/' }}
                {...(to === '/schedules' && isSchedule && { 'aria-current': 'page' })}
              >
                <Icon size={16} aria-hidden="true" />
                {name}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Person onShowKeys={onShowKeys} />
    </details>
  )
}

/** The address of a schedule is below that of its project or agent. */
const IS_SCHEDULE = /^\/(?:projects|agents)\/[^/]+\/schedules\//

const WIDE = window.matchMedia('(min-width: 901px)')

function useIsWide(): boolean {
  const [isWide, setIsWide] = useState(WIDE.matches)
  useEffect(() => {
    const onChange = () => setIsWide(WIDE.matches)
    WIDE.addEventListener('change', onChange)
    return () => WIDE.removeEventListener('change', onChange)
  }, [])
  return isWide
}
