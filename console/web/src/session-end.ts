/**
 * What happens when the session ends while a person works: requests wait while the person signs in again, in place, and
 * are sent once more. Another person, or a sign-out in another tab, leaves the page.
 */
import type { components } from '../../../client/src/api.ts'
import { notePersonAsked, observedFetch } from './connection.ts'

type Me = components['schemas']['Me']

/** What the browser remembers of who is signed in, the same in all tabs. */
const SIGNED_IN = 'signedIn'
/** In this tab: the page was left because another person signed in. */
const IS_OTHER = 'isOtherPerson'
/** A change that has waited for longer is not sent: nobody expects it any more. */
const LATE_MS = 5 * 60_000
const RESEND_TIMEOUT_MS = 60_000

interface Memory {
  readonly person: string
  readonly at: number
}

/** Why the person is asked to sign in again. */
export type Reason = 'ended' | 'suspended' | 'confirm'

export interface SessionEnd {
  readonly reason: Reason
  /** The person has closed the dialog, and can open it again. */
  readonly isDismissed: boolean
}

let person: string | undefined
let end: SessionEnd | undefined
let waiting: ((isSignedIn: boolean) => void)[] = []
let signIns = 0
/** How many dialogs show a token or a secret, which is shown only once. */
let secrets = 0
const listeners = new Set<() => void>()

function setEnd(next: SessionEnd | undefined): void {
  end = next
  notePersonAsked(next !== undefined && !next.isDismissed)
  for (const listener of listeners) listener()
}

export const sessionEnd = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  /** Why the person is asked to sign in now. */
  getAsked: () => (end?.isDismissed || secrets > 0 ? undefined : end),
  get: () => end,
}

/** While a secret is shown, nothing covers it. @returns what ends that. */
export function showSecret(): () => void {
  secrets += 1
  return () => {
    secrets -= 1
    setEnd(end)
  }
}

/** A key that acts as no user has its name. */
const personOf = ({ organization, user, apiKey }: Me) =>
  `${organization.id}/${user ? `users/${user.id}` : `keys/${apiKey.name}`}`

/** To whom what is typed belongs; undefined before it is known who is signed in. */
export const currentPerson = () => person

const memory = (): Memory | undefined => JSON.parse(localStorage.getItem(SIGNED_IN) ?? 'null') ?? undefined

/** True if somebody was signed in here and has not signed out. */
export const wasSignedIn = () => memory() !== undefined

/** Called with each answer about who is signed in. */
export function noteMe(me: Me): void {
  person = personOf(me)
  if (memory()?.person !== person) remember(person)
}

/** Another tab may wait for it. */
export function noteSignIn(me: Me): void {
  person = personOf(me)
  remember(person)
}

const remember = (signedIn: string) =>
  localStorage.setItem(SIGNED_IN, JSON.stringify({ person: signedIn, at: Date.now() } satisfies Memory))

/** What is asked meanwhile does not ask to sign in. */
export async function whileSigningOut(signOut: () => Promise<void>): Promise<void> {
  const before = person
  person = undefined
  try {
    await signOut()
  } catch (error) {
    person = before
    throw error
  }
  localStorage.removeItem(SIGNED_IN)
}

/** `fetch` for what needs the session. */
export async function sessionFetch(request: Request): Promise<Response> {
  const before = signIns
  const copy = request.clone() as Request
  const response = await observedFetch(request)
  if (response.status !== 401 || person === undefined) return response
  if (signIns === before) {
    const began = Date.now()
    const isChange = request.method !== 'GET'
    if (!(await signedInAgain(reasonOf(response), isChange))) return response
    if (isChange && Date.now() - began > LATE_MS) return response
  }
  // The signal may have ended meanwhile: an attempt has its time.
  return fetch(new Request(copy, { signal: AbortSignal.timeout(RESEND_TIMEOUT_MS) }))
}

const reasonOf = ({ headers }: Response): Reason =>
  headers.get('Error-Code') === 'organization_suspended' ? 'suspended' : 'ended'

/** @param asksAgain after the person has closed the dialog, only what the person does opens it. */
function signedInAgain(reason: Reason, asksAgain: boolean): Promise<boolean> {
  if (end?.isDismissed && !asksAgain) return Promise.resolve(false)
  setEnd({ reason, isDismissed: false })
  return new Promise((resolve) => waiting.push(resolve))
}

/** Asks the person to sign in again although the session lasts. @returns false if the person does not. */
export const confirmSignIn = (): Promise<boolean> => signedInAgain('confirm', true)

function settle(isSignedIn: boolean): void {
  const asked = waiting
  waiting = []
  for (const resolve of asked) resolve(isSignedIn)
}

export function dismiss(): void {
  setEnd(end && end.reason !== 'confirm' ? { ...end, isDismissed: true } : undefined)
  settle(false)
}

export function askAgain(): void {
  if (end) setEnd({ ...end, isDismissed: false })
}

/** Another person begins with a page of their own, which says why it is shown. */
function leaveToOther(): void {
  sessionStorage.setItem(IS_OTHER, 'true')
  location.replace('/')
}

/** @returns true once after another person has signed in. */
export function takeIsOther(): boolean {
  const isOther = sessionStorage.getItem(IS_OTHER) !== null
  sessionStorage.removeItem(IS_OTHER)
  return isOther
}

/** @param me who is signed in now. */
export function resume(me: Me): void {
  if (personOf(me) !== person) {
    leaveToOther()
    return
  }
  signIns += 1
  setEnd(undefined)
  settle(true)
}

interface Changes {
  /** The same person. */
  readonly onSignIn: () => void
  readonly onSignOut: (person: string) => void
}

/** Follows sign-ins and sign-outs in other tabs, and in the window for them. */
export function followSignIns({ onSignIn, onSignOut }: Changes): void {
  window.addEventListener('storage', ({ key }) => {
    if (key !== SIGNED_IN || person === undefined) return
    const known = memory()
    if (known === undefined) {
      onSignOut(person)
      location.replace('/sign-in')
    } else if (known.person === person) onSignIn()
    else leaveToOther()
  })
}
