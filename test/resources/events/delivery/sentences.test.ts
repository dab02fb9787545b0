/** What a chat shows of the messages of the format `text`, by the documented rules of its incoming webhooks. */
import { describe, expect, it } from 'vitest'
import { EVENT_TYPES, type EventType } from '../../../../src/access/event-types.ts'
import { projects, users } from '../../../../src/db/schema.ts'
import { withEndpoint } from '../../../support/event-endpoints.ts'
import { stopClocks } from '../../../support/runs.ts'

stopClocks()

const TYPES = Object.keys(EVENT_TYPES) as EventType[]
const MAX_LENGTH = 40_000

/** Posts the text as the chat does. @returns the lines that people read. @throws if the chat would do more than show it. */
function shownBy(body: string): string[] {
  const message = JSON.parse(body)
  expect(Object.keys(message)).toEqual(['text'])
  const text: string = message.text
  if (text.length > MAX_LENGTH) throw new Error('The text is cut off')
  if (/[<>]/.test(text)) throw new Error('A link, a mention or a command')
  if (/&(?!(?:amp|lt|gt);)/.test(text)) throw new Error('An "&" that is not escaped')
  if (/(?<![\p{L}\p{N}])@[\p{L}\p{N}]/u.test(text)) throw new Error('Somebody is notified')
  if (/\]\(|\]\[|:\/\/|\bwww\.\S/i.test(text)) throw new Error('A link')
  if (/[*`~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|^(?:[-+#>|]|&gt;)/mu.test(text)) throw new Error('Markup')
  if (/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) throw new Error('A character that nobody sees')
  return text.split('\n').map((line) => line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
}

const NAMES = {
  plain: 'Nightly review',
  'the mention of a channel': '<!channel> <!here|here> <@U012AB3CD> @here @channel @everyone',
  'a link': '<https://evil.example|Click here> [here](https://evil.example)',
  'bare addresses':
    'https://evil.example HTTP://EVIL.EXAMPLE ftp://evil.example www.evil.example WWW.evil.example @www.a.b',
  'links of Markdown': '[a](javascript:alert(1)) ![x](//evil.example/x.png) [b][c] [d]: https://evil.example',
  emphasis: '*bold* _italic_ ~struck~ `code` **bold** __bold__ ~~struck~~ ```block``` _*`~x~`*_ (_y_)',
  'a heading': '# heading #general',
  'a quote': '> quote',
  'an item of a list': '- item',
  'another item of a list': '+ item',
  'line breaks and control characters': 'a\nb\r\nc\u2028d\u2029e\u0000f\u0007g\u001b[31mh\u0085i',
  'bidirectional text': 'abc\u202e\u2066gnp.exe\u2069\u200b\u200f\ufeff',
  'ampersands and entities': 'R&D &amp; &lt;!channel&gt; &',
  'patterns of replacement': "$& $1 $$ $` $' {name} %s \\",
  '10,000 characters': 'ä'.repeat(10_000),
  '10,000 ampersands': '&'.repeat(10_000),
  'surrogate pairs': '\u{1f680}'.repeat(300),
  'only spaces': ' \t ',
}

/** The events of all types, each with this name everywhere, or with others. */
async function shown(name: string, { user = name, key = name, project = name } = {}): Promise<string[]> {
  const { workspace, addEvents, deliverAll, receiver } = await withEndpoint({ format: 'text' })
  await workspace.change(users, workspace.userId, { name: user })
  const projectId = await workspace.addProject()
  await workspace.change(projects, projectId, { name: project })
  await addEvents(TYPES.length, (index) => ({
    type: TYPES[index] ?? '',
    resourceName: name,
    resourceId: 'a-resource',
    projectId: /^(?:environment|session|pull-request|run\.)/.test(TYPES[index] ?? '') ? projectId : null,
    apiKeyId: workspace.userId,
    apiKeyName: key,
    userId: index % 2 ? workspace.userId : null,
  }))
  await deliverAll()
  return (await receiver.received()).flatMap(({ body }) => shownBy(body))
}

describe('the sentences of all types', () => {
  it.each(Object.entries(NAMES))('are shown as they are meant: %s', async (_, name) => {
    const lines = await shown(name)
    expect(lines).toHaveLength(TYPES.length)
    expect(new Set(lines).size).toBeGreaterThan(TYPES.length / 2)
    expect(lines.every((line) => line.length < 800)).toBe(true)
  })

  it('are these', async () => {
    expect(await shown('Nightly', { user: 'Ada', key: 'laptop', project: 'Website' })).toMatchInlineSnapshot(`
      [
        "laptop created the agent Nightly",
        "Ada renamed the agent Nightly",
        "laptop archived the agent Nightly",
        "Ada unarchived the agent Nightly",
        "laptop deleted the agent Nightly",
        "Ada restored the agent Nightly",
        "laptop created the API key Nightly",
        "Ada rotated the API key Nightly",
        "laptop revoked the API key Nightly",
        "Ada signed in with Nightly",
        "laptop ended the sign-in with Nightly",
        "Ada connected the app Nightly",
        "laptop disconnected the app Nightly",
        "Ada deleted Nightly for good",
        "laptop set the environment variable Nightly in Website",
        "Ada deleted the environment variable Nightly in Website",
        "laptop set the environment variables Nightly in Website",
        "Ada leased the environment variables Nightly in Website",
        "laptop created the event endpoint Nightly",
        "Ada changed the event endpoint Nightly",
        "laptop rotated the secret of the event endpoint Nightly",
        "Ada rewound the event endpoint Nightly",
        "laptop tested the event endpoint Nightly",
        "Ada disabled the event endpoint Nightly",
        "laptop deleted the event endpoint Nightly",
        "Ada signed in for the first time as Nightly",
        "laptop changed the role of Nightly",
        "Ada blocked Nightly from signing in",
        "laptop let Nightly sign in again",
        "Ada deleted the identity Nightly",
        "laptop invited Nightly",
        "Ada accepted the invitation of Nightly",
        "laptop deleted the invitation of Nightly",
        "Ada pinned Nightly",
        "laptop moved the pin of Nightly",
        "Ada unpinned Nightly",
        "laptop set the profile picture of the user Nightly",
        "Ada deleted the profile picture of the user Nightly",
        "laptop created the project Nightly",
        "Ada renamed the project Nightly",
        "laptop archived the project Nightly",
        "Ada unarchived the project Nightly",
        "laptop deleted the project Nightly",
        "Ada restored the project Nightly",
        "laptop created the pull request Nightly in Website",
        "Ada renamed the pull request Nightly in Website",
        "laptop deleted the pull request Nightly in Website",
        "Ada restored the pull request Nightly in Website",
        "laptop started a run of Nightly in Website",
        "Ada claimed a run of Nightly in Website",
        "laptop acknowledged a run of Nightly in Website",
        "Ada sent a run of Nightly again in Website",
        "laptop completed a run of Nightly in Website",
        "Ada reported that a run of Nightly failed in Website",
        "laptop set the run endpoint",
        "Ada rotated the secret of the run endpoint",
        "laptop deleted the run endpoint",
        "Ada created the schedule Nightly",
        "laptop changed the schedule Nightly",
        "Ada paused the schedule Nightly",
        "laptop resumed the schedule Nightly",
        "Ada deleted the schedule Nightly",
        "laptop restored the schedule Nightly",
        "Ada created the session Nightly in Website",
        "laptop renamed the session Nightly in Website",
        "Ada deleted the session Nightly in Website",
        "laptop restored the session Nightly in Website",
        "Ada added the session file Nightly in Website",
        "laptop changed the session file Nightly in Website",
        "Ada deleted the session file Nightly in Website",
        "laptop created the sign-in rule Nightly",
        "Ada changed the sign-in rule Nightly",
        "laptop deleted the sign-in rule Nightly",
        "Ada created the skill Nightly",
        "laptop changed the skill Nightly",
        "Ada published another version of the skill Nightly",
        "laptop deleted the skill Nightly",
        "Ada restored the skill Nightly",
        "laptop created the skill feed Nightly",
        "Ada deleted the skill feed Nightly",
        "laptop created the user Nightly",
        "Ada renamed the user Nightly",
        "laptop deleted the user Nightly",
        "Ada restored the user Nightly",
      ]
    `)
  })
})

it.each([
  ['DATABASE_URL', 'DATABASE_URL'],
  ['[WIP] Fix *all* tests', '(WIP) Fix ∗all∗ tests'],
  ['__init__.py', '＿＿init＿＿.py'],
  ['`rm -rf ~`', '‘rm -rf ∼‘'],
  ['Read https://evil.example/a_b', 'Read https: //evil.example/a_b'],
  ['#12: ada@example.com', '＃12: ada@example.com'],
])('show the name %s as %s', async (name, expected) => {
  const [line] = await shown(name, { user: 'Ada', key: 'laptop', project: 'Website' })
  expect(line).toBe(`laptop created the agent ${expected}`)
})

it('name the service where it acted, and the project by its name or, after its deletion, by its ID', async () => {
  const { workspace, addEvents, deliverAll, receiver } = await withEndpoint({ format: 'text' })
  const projectId = await workspace.addProject()
  await addEvents(2, (index) => ({
    type: 'schedule.paused',
    resourceId: 'x',
    resourceName: index ? null : 'Nightly',
    projectId: index ? 'gone' : projectId,
  }))
  await deliverAll()
  const [received] = await receiver.received()
  expect(shownBy(received?.body ?? '{}')).toEqual([
    'Workspace API paused the schedule Nightly in Website',
    'Workspace API paused the schedule x in gone',
  ])
})
