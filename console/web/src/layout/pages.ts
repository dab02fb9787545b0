/** The pages of the navigation, in its order. */
import {
  Activity,
  BookOpen,
  Braces,
  CalendarClock,
  Files,
  KeyRound,
  type LucideIcon,
  Pin,
  Play,
  Sun,
  Trash2,
  Users,
  Webhook,
} from 'lucide-react'

interface PageLink {
  readonly to:
    | '/'
    | '/schedules'
    | '/runs'
    | '/pins'
    | '/sessions'
    | '/skills'
    | '/activity'
    | '/variables'
    | '/keys'
    | '/people'
    | '/endpoints'
    | '/deleted'
  readonly name: string
  /** Typed after "g". */
  readonly letter: string
  readonly Icon: LucideIcon
}

export const PAGES: readonly PageLink[] = [
  { to: '/', name: 'Today', letter: 't', Icon: Sun },
  { to: '/schedules', name: 'Schedules', letter: 's', Icon: CalendarClock },
  { to: '/runs', name: 'Runs', letter: 'r', Icon: Play },
  { to: '/pins', name: 'Pins', letter: 'p', Icon: Pin },
  { to: '/sessions', name: 'Sessions', letter: 'e', Icon: Files },
  { to: '/skills', name: 'Skills', letter: 'i', Icon: BookOpen },
  { to: '/activity', name: 'Activity', letter: 'a', Icon: Activity },
  { to: '/variables', name: 'Variables', letter: 'v', Icon: Braces },
  { to: '/keys', name: 'Keys', letter: 'k', Icon: KeyRound },
  { to: '/people', name: 'People', letter: 'o', Icon: Users },
  { to: '/endpoints', name: 'Endpoints', letter: 'n', Icon: Webhook },
  { to: '/deleted', name: 'Deleted', letter: 'd', Icon: Trash2 },
]
