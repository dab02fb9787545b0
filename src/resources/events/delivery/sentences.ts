/** Events as sentences, for the format `text`: what the incoming webhooks of chats take. */
import type { EventType } from '../../../access/event-types.ts'
import type { Event } from '../event.ts'

/** What the actor did. `{name}` is the resource. */
export const PREDICATES: Readonly<Record<EventType, string>> = {
  'agent.created': 'created the agent {name}',
  'agent.updated': 'renamed the agent {name}',
  'agent.archived': 'archived the agent {name}',
  'agent.unarchived': 'unarchived the agent {name}',
  'agent.deleted': 'deleted the agent {name}',
  'agent.restored': 'restored the agent {name}',
  'api-key.created': 'created the API key {name}',
  'api-key.rotated': 'rotated the API key {name}',
  'api-key.revoked': 'revoked the API key {name}',
  'api-key.session-created': 'signed in with {name}',
  'api-key.session-ended': 'ended the sign-in with {name}',
  'api-key.app-connected': 'connected the app {name}',
  'api-key.app-disconnected': 'disconnected the app {name}',
  'deletion.purged': 'deleted {name} for good',
  'environment-variable.set': 'set the environment variable {name}',
  'environment-variable.deleted': 'deleted the environment variable {name}',
  'environment-variables.set': 'set the environment variables {name}',
  'environment-variables.leased': 'leased the environment variables {name}',
  'event-endpoint.created': 'created the event endpoint {name}',
  'event-endpoint.updated': 'changed the event endpoint {name}',
  'event-endpoint.rotated': 'rotated the secret of the event endpoint {name}',
  'event-endpoint.rewound': 'rewound the event endpoint {name}',
  'event-endpoint.tested': 'tested the event endpoint {name}',
  'event-endpoint.disabled': 'disabled the event endpoint {name}',
  'event-endpoint.deleted': 'deleted the event endpoint {name}',
  'identity.created': 'signed in for the first time as {name}',
  'identity.updated': 'changed the role of {name}',
  'identity.blocked': 'blocked {name} from signing in',
  'identity.unblocked': 'let {name} sign in again',
  'identity.deleted': 'deleted the identity {name}',
  'invitation.created': 'invited {name}',
  'invitation.accepted': 'accepted the invitation of {name}',
  'invitation.deleted': 'deleted the invitation of {name}',
  'pin.created': 'pinned {name}',
  'pin.placed': 'moved the pin of {name}',
  'pin.deleted': 'unpinned {name}',
  'profile-picture.set': 'set the profile picture of the user {name}',
  'profile-picture.deleted': 'deleted the profile picture of the user {name}',
  'project.created': 'created the project {name}',
  'project.updated': 'renamed the project {name}',
  'project.archived': 'archived the project {name}',
  'project.unarchived': 'unarchived the project {name}',
  'project.deleted': 'deleted the project {name}',
  'project.restored': 'restored the project {name}',
  'pull-request.created': 'created the pull request {name}',
  'pull-request.updated': 'renamed the pull request {name}',
  'pull-request.deleted': 'deleted the pull request {name}',
  'pull-request.restored': 'restored the pull request {name}',
  'run.created': 'started a run of {name}',
  'run.claimed': 'claimed a run of {name}',
  'run.acknowledged': 'acknowledged a run of {name}',
  'run.redelivered': 'sent a run of {name} again',
  'run.succeeded': 'completed a run of {name}',
  'run.failed': 'reported that a run of {name} failed',
  'run-endpoint.set': 'set the run endpoint',
  'run-endpoint.rotated': 'rotated the secret of the run endpoint',
  'run-endpoint.deleted': 'deleted the run endpoint',
  'schedule.created': 'created the schedule {name}',
  'schedule.updated': 'changed the schedule {name}',
  'schedule.paused': 'paused the schedule {name}',
  'schedule.resumed': 'resumed the schedule {name}',
  'schedule.deleted': 'deleted the schedule {name}',
  'schedule.restored': 'restored the schedule {name}',
  'session.created': 'created the session {name}',
  'session.updated': 'renamed the session {name}',
  'session.deleted': 'deleted the session {name}',
  'session.restored': 'restored the session {name}',
  'session-file.created': 'added the session file {name}',
  'session-file.updated': 'changed the session file {name}',
  'session-file.deleted': 'deleted the session file {name}',
  'sign-in-rule.created': 'created the sign-in rule {name}',
  'sign-in-rule.updated': 'changed the sign-in rule {name}',
  'sign-in-rule.deleted': 'deleted the sign-in rule {name}',
  'skill.created': 'created the skill {name}',
  'skill.updated': 'changed the skill {name}',
  'skill.published': 'published another version of the skill {name}',
  'skill.deleted': 'deleted the skill {name}',
  'skill.restored': 'restored the skill {name}',
  'skill-feed.created': 'created the skill feed {name}',
  'skill-feed.deleted': 'deleted the skill feed {name}',
  'user.created': 'created the user {name}',
  'user.updated': 'renamed the user {name}',
  'user.deleted': 'deleted the user {name}',
  'user.restored': 'restored the user {name}',
}

/** The names of the user and of the project of an event, where they still exist. */
export interface Names {
  readonly user: string | null
  readonly project: string | null
}

/** What a sentence says of an event. */
interface SentenceEvent extends Pick<Event, 'type' | 'projectId'> {
  readonly resource: { readonly type: string; readonly id: string; readonly name: string | null }
  readonly actor: { readonly apiKeyName: string } | null
}

const MAX_NAME = 100
const SERVICE = 'Workspace API'

/**
 * One line, such as "Ada paused the schedule Nightly review in Website".
 * @param written how names are written; default: as in a message of a chat.
 */
export function sentenceOf(
  { type, resource, projectId, actor }: SentenceEvent,
  names: Names | undefined,
  written: (name: string) => string = plain,
): string {
  const who = actor === null ? SERVICE : (names?.user ?? actor.apiKeyName)
  const name = resource.name ?? resource.id
  // A function, because a name may have the "$" of a replacement pattern.
  const predicate = (PREDICATES[type] ?? `${type} {name}`).replace('{name}', () => written(name))
  const isInProject = projectId !== null && resource.type !== 'project'
  return `${written(who)} ${predicate}${isInProject ? ` in ${written(names?.project ?? projectId)}` : ''}`
}

/** Control characters, those that change the direction of the text, and those without a width. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu
/** At the start of a word: "@channel" would notify everyone. */
const MENTION = /(?<![\p{L}\p{N}])@+(?=[\p{L}\p{N}])/gu
/** What makes a link of a bare address. */
const ADDRESS = /(?<=:)\/(?=\/)|(?<=\bwww)\.(?=\S)/gi
/** Between letters, an underscore is part of a word, such as DATABASE_URL. */
const EMPHASIS = /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu
/** What is markup in Slack or in Markdown, at the start of a line or anywhere, and what is shown instead. */
const MARKUP = /^[#>+-]|[*~`[\]]/g
const SHOWN: Readonly<Record<string, string>> = {
  '#': '＃',
  '>': '›',
  '+': '＋',
  '-': '‐',
  '*': '∗',
  '~': '∼',
  '`': '‘',
  '[': '(',
  ']': ')',
}
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A name in a message: one line, without mentions, links and markup. */
function plain(text: string): string {
  const line = text.replace(INVISIBLE, ' ').replace(/\s+/g, ' ').trim()
  const characters = [...line]
  const short = characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join('')}…` : line
  return short
    .replace(MENTION, '')
    .replace(ADDRESS, ' $&')
    .replace(EMPHASIS, '＿')
    .replace(MARKUP, (character) => SHOWN[character] ?? character)
    .replace(/[&<>]/g, (character) => ESCAPES[character] ?? character)
}
