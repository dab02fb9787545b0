/** `workspace people`: who signs in, and what they may do. */
import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings'
import type { Workspace } from '../../client/src/index.ts'
import { UsageError } from '../../command-line/src/index.ts'
import { ROLE_NAMES } from '../../src/contracts.ts'
import { describe, group, withJson, withLimit } from './command.ts'
import { print, printList } from './output.ts'
import { find, KINDS, resolve, resolveOption } from './resolve.ts'
import { connect, pageSize } from './service.ts'
import { time, timeText } from './times.ts'

const PERSON = [
  '<person>',
  'the ID, its first characters, the name, the e-mail address, or the ID of the user',
] as const
const ISSUER = ['--issuer <url>', 'the identity provider, as the claim "iss" of its tokens names it'] as const
const PROJECTS = ['--project <project...>', 'the projects that the role is restricted to; default: all'] as const
const PROVIDER = 'https://login.example.com'
const RULE_ID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c75'

/** In the place of a role: what the rules give. */
const BY_RULES = 'rules'

const list = withLimit(
  describe('list', 'Lists the people who have signed in: what they may do, why, and when they did.', [
    'people list',
    'people list -o wide',
  ]),
).action(async (output) => {
  await printList(
    output,
    connect().identities.list({ limit: pageSize(output.limit) }),
    {
      ID: ({ id }) => id,
      NAME: ({ userName }) => userName,
      'E-MAIL': ({ email }) => email,
      ISSUER: ({ issuer }) => issuer,
      ROLE: ({ role }) => role,
      WHY: ({ ruleIds }) => (ruleIds === null ? 'own role' : 'rules'),
      'LAST SIGN-IN': ({ lastSignInAt }) => time(lastSignInAt),
      BLOCKED: ({ blockedAt }) => time(blockedAt),
    },
    {
      PROJECTS: ({ projectIds }) => projectIds ?? 'all',
      USER: ({ userId }) => userId,
      SUBJECT: ({ subject }) => subject,
      CREATED: ({ createdAt }) => time(createdAt),
    },
  )
})

const rules = withLimit(
  describe('rules', 'Lists the rules that say who may sign in, and with which role.', [
    'people rules',
    'people rules -o wide',
  ]),
).action(async (output) => {
  await printList(
    output,
    connect().signInRules.list(),
    {
      ID: ({ id }) => id,
      ISSUER: ({ issuer }) => issuer,
      CLAIM: ({ claim }) => claim,
      VALUE: ({ value }) => value,
      ROLE: ({ role }) => role,
      PROJECTS: ({ projectIds }) => projectIds ?? 'all',
    },
    {
      'API KEY': ({ createdByKeyId }) => createdByKeyId,
      CREATED: ({ createdAt }) => time(createdAt),
      UPDATED: ({ updatedAt }) => time(updatedAt),
    },
  )
})

const addRule = withJson(
  describe('add-rule', 'Creates a rule: a person with the value in the claim may sign in, and gets the role.', [
    `people add-rule --issuer ${PROVIDER} --claim groups --value engineers --role member`,
    `people add-rule --issuer ${PROVIDER} --claim iss --value ${PROVIDER} --role viewer --project website`,
  ])
    .requiredOption(...ISSUER)
    .requiredOption(
      '--claim <name>',
      'the claim, as in groups; outer.inner for a field within another; iss for everybody of the provider',
    )
    .requiredOption(
      '--value <value>',
      'the value, or one of the values, that the claim has; upper and lower case differ',
    )
    .addOption(new Option('--role <role>', 'what they may do').choices(ROLE_NAMES).makeOptionMandatory())
    .option(...PROJECTS),
).action(async ({ issuer, claim, value, role, project, json }) => {
  const workspace = connect()
  const projectIds = await projectIdsOf(workspace, project)
  const rule = await workspace.signInRules.create({ issuer, claim, value, role, projectIds })
  print({ json }, rule, `Created ${rule.id}.`)
})

const removeRule = withJson(
  describe(
    'remove-rule',
    'Deletes a rule. What the people signed in with who have their role by it ends: sessions, apps and API keys.',
    [`people remove-rule ${RULE_ID}`, 'people remove-rule 0198c2a4'],
  ).argument('<rule>', 'the ID of the rule, or its first characters'),
).action(async (text, { json }) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.signInRule, text)
  print({ json }, await workspace.signInRules.delete(id), `Deleted ${id}.`)
})

const tryOut = withJson(
  describe('try', 'Says what the rules give a person with these claims. Nobody signs in, and nothing changes.', [
    `people try --issuer ${PROVIDER} --claim groups=engineers groups=on-call`,
    `people try --issuer ${PROVIDER} --claim email=ada@example.com`,
  ])
    .requiredOption(...ISSUER)
    .option(
      '--claim <name=value...>',
      'what the provider says of the person; several times for several values',
      addClaim,
      [],
    ),
).action(async ({ issuer, claim: claims, json }) => {
  const preview = await connect().signInRules.preview({ issuer, claims })
  const { role, projectIds, ruleIds } = preview
  const projects = projectIds === null ? 'all projects' : `the projects ${projectIds.join(', ')}`
  const rules = `${ruleIds.length === 1 ? 'the rule' : 'the rules'} ${ruleIds.join(', ')}`
  const text = role === null ? 'Not admitted: no rule matches.' : `Admitted as ${role}, in ${projects}, by ${rules}.`
  print({ json }, preview, text)
})

const invite = withJson(
  describe(
    'invite',
    'Invites a person: the first who signs in with this verified e-mail address at this provider gets the role, whatever the rules say. No e-mail is sent.',
    [
      `people invite grace@example.com --issuer ${PROVIDER} --role member`,
      `people invite grace@example.com --issuer ${PROVIDER} --role viewer --project website --days 30`,
    ],
  )
    .argument('<email>', 'the e-mail address that the provider has verified')
    .requiredOption(...ISSUER)
    .addOption(new Option('--role <role>', 'what they may do').choices(ROLE_NAMES).makeOptionMandatory())
    .option(...PROJECTS)
    .option('--user <user>', 'the user that the person becomes; default: a new one')
    .option('--days <number>', 'how long the invitation can be accepted, up to 30; default: 7', Number),
).action(async (email, { issuer, role, project, user, days, json }) => {
  const workspace = connect()
  const projectIds = await projectIdsOf(workspace, project)
  const userId = await resolveOption(workspace, KINDS.user, user)
  const invitation = await workspace.invitations.create({
    email,
    issuer,
    role,
    projectIds,
    userId: userId ?? null,
    ...(days !== undefined && { expiresInDays: days }),
  })
  const { organization } = json ? { organization: { id: '' } } : await workspace.me.retrieve()
  const how = `No e-mail is sent: send them the address of your console, followed by /sign-in/${organization.id}`
  print(
    { json },
    invitation,
    `Invited ${invitation.email}; the invitation ends ${timeText(invitation.expiresAt, {})}. ${how}`,
  )
})

const invitations = withLimit(
  describe('invitations', 'Lists the invitations: who may sign in once, without a rule.', [
    'people invitations',
    'people invitations -o wide',
  ]),
).action(async (output) => {
  await printList(
    output,
    connect().invitations.list(),
    {
      ID: ({ id }) => id,
      'E-MAIL': ({ email }) => email,
      ISSUER: ({ issuer }) => issuer,
      ROLE: ({ role }) => role,
      PROJECTS: ({ projectIds }) => projectIds ?? 'all',
      ENDS: ({ expiresAt }) => time(expiresAt),
      ACCEPTED: ({ acceptedAt }) => time(acceptedAt),
    },
    {
      USER: ({ userId }) => userId,
      IDENTITY: ({ identityId }) => identityId,
      'API KEY': ({ createdByKeyId }) => createdByKeyId,
      CREATED: ({ createdAt }) => time(createdAt),
    },
  )
})

const uninvite = withJson(
  describe('uninvite', 'Deletes an invitation that nobody has accepted.', [
    'people uninvite grace@example.com',
    'people uninvite 0198c2a4',
  ]).argument('<invitation>', 'the e-mail address, or the ID of the invitation or its first characters'),
).action(async (text, { json }) => {
  const workspace = connect()
  const id = await resolve(workspace, KINDS.invitation, text)
  print({ json }, await workspace.invitations.delete(id), `Deleted ${id}.`)
})

const role = withJson(
  describe(
    'role',
    'Gives a person a role that the rules do not change, or lets the rules decide again. What the person signed in with ends.',
    [
      'people role "Grace Hopper" admin',
      'people role grace@example.com member --project website',
      'people role grace@example.com rules',
    ],
  )
    .argument(...PERSON)
    .addArgument(
      new Argument('<role>', `the role; ${BY_RULES}: what the rules give`).choices([...ROLE_NAMES, BY_RULES]),
    )
    .option(...PROJECTS),
).action(async (text, given, { project, json }) => {
  const workspace = connect()
  if (given === BY_RULES && project) throw new UsageError(`--project cannot be used with ${BY_RULES}.`)
  const { id, label } = await personOf(workspace, text)
  const isByRules = given === BY_RULES
  const projectIds = await projectIdsOf(workspace, project)
  const identity = await workspace.identities.update(id, isByRules ? { role: null } : { role: given, projectIds })
  print(
    { json },
    identity,
    isByRules ? `The rules decide about ${label} from the next sign-in on.` : `${label} has the role ${given}.`,
  )
})

const setBlocked = (blocked: boolean) =>
  withJson(
    describe(
      blocked ? 'block' : 'unblock',
      blocked
        ? 'Blocks people: what they signed in with ends, and they cannot sign in.'
        : 'Unblocks people: they can sign in again, if a rule or a role of their own admits them.',
      [`people ${blocked ? 'block' : 'unblock'} grace@example.com`],
    ).argument('<people...>', PERSON[1]),
  ).action(async (texts, output) => {
    const workspace = connect()
    for (const { id, label } of await peopleOf(workspace, texts)) {
      print(
        output,
        await workspace.identities.update(id, { blocked }),
        `${blocked ? 'Blocked' : 'Unblocked'} ${label}.`,
      )
    }
  })

const remove = withJson(
  describe(
    'remove',
    'Removes the access of people: what they signed in with ends. The user stays. Whom a rule admits can sign in again, as a new user; `block` prevents that.',
    ['people remove grace@example.com'],
  ).argument('<people...>', PERSON[1]),
).action(async (texts, output) => {
  const workspace = connect()
  for (const { id, label } of await peopleOf(workspace, texts)) {
    print(output, await workspace.identities.delete(id), `Removed the access of ${label}.`)
  }
})

interface Claim {
  readonly claim: string
  readonly value: string
}

/** Adds what an option has to the ones before it. */
function addClaim(text: string, claims: readonly Claim[]): Claim[] {
  const [, claim, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (claim === undefined || value === undefined) throw new InvalidArgumentError('Allowed: name=value.')
  return [...claims, { claim, value }]
}

async function projectIdsOf(workspace: Workspace, texts: readonly string[] | undefined): Promise<string[] | null> {
  return texts === undefined ? null : Promise.all(texts.map((text) => resolve(workspace, KINDS.project, text)))
}

/** All are found before the first is changed. */
async function peopleOf(workspace: Workspace, texts: readonly string[]): Promise<Person[]> {
  const found: Person[] = []
  for (const text of texts) found.push(await personOf(workspace, text))
  return found
}

async function personOf(workspace: Workspace, text: string): Promise<Person> {
  const all: Identity[] = []
  for await (const identity of workspace.identities.list({ limit: pageSize() })) all.push(identity)
  const wanted = text.toLowerCase()
  const exact = all.filter(({ userId, email }) => userId === text || email === wanted)
  // A name is what people say of themselves: it could be the address of somebody else.
  const possible = exact.length > 0 || text.includes('@') ? exact : all
  const named = possible.map((each) => {
    const { userName, email, subject, issuer } = each
    const label = `${userName} (${email ?? subject} of ${issuer})`
    return { ...each, name: exact.includes(each) ? text : userName, label }
  })
  return find(workspace, { noun: 'person', list: async () => named }, text)
}

interface Person {
  readonly id: string
  /** For messages. */
  readonly label: string
}

type Identity = Awaited<ReturnType<Workspace['identities']['retrieve']>>

export const people = group(
  'people',
  'Manages who signs in with an identity provider, by rules, and what they may do.',
  ['people list', `people add-rule --issuer ${PROVIDER} --claim groups --value admins --role admin`],
  [
    list,
    rules,
    addRule,
    removeRule,
    tryOut,
    invite,
    invitations,
    uninvite,
    role,
    setBlocked(true),
    setBlocked(false),
    remove,
  ],
)
