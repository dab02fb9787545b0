/** What the pages ask the API about people who sign in and the rules that admit them, and what they tell it to do. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import type { components } from '../../../client/src/api.ts'
import { refresh, useCan, useMe, workspace } from './api.ts'
import { listQuery } from './lists.ts'

type Schemas = components['schemas']
export type Identity = Schemas['Identity']
export type Rule = Schemas['SignInRule']
export type Invitation = Schemas['Invitation']
export type NewInvitation = Schemas['NewInvitation']
export type RuleSettings = Schemas['NewSignInRule']
export type Role = Rule['role']
export type Access = Pick<Rule, 'role' | 'projectIds'>

const PAGE = 1000
/** How many people who sign in the pages read. */
const MAX_IDENTITIES = 5000

const identitiesQuery = listQuery(['identities'], async () => {
  const identities: Identity[] = []
  for await (const identity of workspace.identities.list({ limit: PAGE })) {
    if (identities.push(identity) === MAX_IDENTITIES) break
  }
  return identities
})

/** What the session may do with rules and people who sign in, which belong to the whole organization. */
export function useMaySignIn() {
  const can = useCan()
  const isRestricted = useMe().apiKey.projectIds !== null
  const read = can('sign-in:read') && !isRestricted
  return { read, write: read && can('sign-in:write') }
}

/** Everybody who has signed in; undefined while they load, and if the session may not read them. */
export function useIdentities(): readonly Identity[] | undefined {
  const { read } = useMaySignIn()
  return useQuery({ ...identitiesQuery, enabled: read }).data
}

export const identityQuery = (id: string) =>
  queryOptions({ queryKey: ['identities', id], queryFn: () => workspace.identities.retrieve(id) })

export const rulesQuery = listQuery(['sign-in-rules'], async () => {
  const { items } = await workspace.signInRules.list().page()
  return items
})

export const invitationsQuery = listQuery(['invitations'], async () => {
  const { items } = await workspace.invitations.list().page()
  return items
})

export const invite = (invitation: NewInvitation) => workspace.invitations.create(invitation)

export const deleteInvitation = (id: string) => workspace.invitations.delete(id)

/** A rule with what tells whether somebody has changed it meanwhile. */
export const ruleQuery = (id: string) =>
  queryOptions({
    queryKey: ['sign-in-rules', id],
    queryFn: async () => {
      const { data, response } = await workspace.signInRules.retrieve(id).withResponse()
      return { rule: data, etag: response.headers.get('ETag') }
    },
  })

/** True if these are the people that the session belongs to: what is done to them ends it. */
export function useIsOwn(): (people: readonly Identity[]) => boolean {
  const { identityId } = useMe().apiKey
  return (people) => people.some(({ id }) => id === identityId)
}

export const createRule = (settings: RuleSettings) => workspace.signInRules.create(settings)

export const changeRule = (id: string, settings: RuleSettings, etag: string | null) =>
  workspace.signInRules.update(id, settings, etag ? { ifMatch: etag } : {})

export const deleteRule = (id: string) => workspace.signInRules.delete(id)

/** Each claim with one of its values. */
export type Claims = readonly { readonly claim: string; readonly value: string }[]

export const preview = (issuer: string, claims: Claims) =>
  workspace.signInRules.preview({ issuer, claims: Array.from(claims) })

/** @param access null: the rules decide again. */
export const setAccess = (id: string, access: Access | null) =>
  workspace.identities.update(id, access ?? { role: null })

export const setBlocked = (id: string, blocked: boolean) => workspace.identities.update(id, { blocked })

export const removeAccess = (id: string) => workspace.identities.delete(id)

/** Reads again what shows rules, invitations and people, and what ends with them. */
export const refreshSignIn = () => refresh('sign-in-rules', 'invitations', 'identities', 'api-keys', 'me')

/** The people whose role a rule gave. */
export const peopleOf = ({ id }: Rule, identities: readonly Identity[]) =>
  identities.filter(({ ruleIds }) => ruleIds?.includes(id))

/** The claim with the issuer, which all of its people have. */
export const EVERYBODY = 'iss'

/** Such as "groups = admins". */
export function labelOf({ issuer, claim, value }: Pick<Rule, 'issuer' | 'claim' | 'value'>): string {
  return claim === EVERYBODY && value === issuer ? 'everybody' : `${claim} = ${value}`
}

/** An issuer without what all have. */
export const shortIssuer = (issuer: string) => issuer.replace(/^https:\/\//, '').replace(/\/$/, '')
