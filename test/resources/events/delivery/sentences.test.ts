/** What a chat shows of the messages of the format `text`, by the documented rules of its incoming webhooks. */
import { describe, expect, it } from 'vitest'
import { EVENT_TYPES, type EventType } from '../../../../src/access/event-types.ts'
import { users } from '../../../../src/db/schema.ts'
import { withEndpoint } from '../../../support/event-endpoints.ts'
import { deliverBatch } from '../../../support/queue.ts'
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
  if (/\]\(/.test(text)) throw new Error('A link of Markdown')
  if (/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)) throw new Error('A character that nobody sees')
  return text.split('\n').map((line) => line.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'))
}

const NAMES = {
  plain: 'Nightly review',
  'the mention of a channel': '<!channel> <!here|here> <@U012AB3CD> @here @channel @everyone',
  'a link': '<https://evil.example|Click here> [here](https://evil.example)',
  'line breaks and control characters': 'a\nb\r\nc\u2028d\u2029e\u0000f\u0007g\u001b[31mh\u0085i',
  'bidirectional text': 'abc\u202e\u2066gnp.exe\u2069\u200b\u200f\ufeff',
  'ampersands and entities': 'R&D &amp; &lt;!channel&gt; &',
  'patterns of replacement': "$& $1 $$ $` $' {name} %s \\",
  '10,000 characters': 'ä'.repeat(10_000),
  '10,000 ampersands': '&'.repeat(10_000),
  'surrogate pairs': '\u{1f680}'.repeat(300),
  'only spaces': ' \t ',
}

/** The events of all types, each with this name everywhere. */
async function shown(name: string): Promise<string[]> {
  const { workspace, addEvents, message, queues, receiver } = await withEndpoint({ format: 'text' })
  await workspace.change(users, workspace.userId, { name })
  const projectId = await workspace.addProject()
  await addEvents(TYPES.length, (index) => ({
    type: TYPES[index] ?? '',
    resourceName: name,
    resourceId: 'a-resource',
    projectId: /^(?:environment|session|pull-request|run\.)/.test(TYPES[index] ?? '') ? projectId : null,
    apiKeyId: workspace.userId,
    apiKeyName: name,
    userId: index % 2 ? workspace.userId : null,
  }))
  await deliverBatch([message], queues)
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
    expect(await shown('Nightly')).toMatchInlineSnapshot(`
      [
        "Nightly created the agent Nightly",
        "Nightly renamed the agent Nightly",
        "Nightly archived the agent Nightly",
        "Nightly restored the agent Nightly",
        "Nightly deleted the agent Nightly",
        "Nightly created the API key Nightly",
        "Nightly rotated the API key Nightly",
        "Nightly revoked the API key Nightly",
        "Nightly set the environment variable Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly deleted the environment variable Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly leased the environment variables Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly created the event endpoint Nightly",
        "Nightly changed the event endpoint Nightly",
        "Nightly rotated the secret of the event endpoint Nightly",
        "Nightly rewound the event endpoint Nightly",
        "Nightly tested the event endpoint Nightly",
        "Nightly disabled the event endpoint Nightly",
        "Nightly deleted the event endpoint Nightly",
        "Nightly pinned Nightly",
        "Nightly moved the pin of Nightly",
        "Nightly unpinned Nightly",
        "Nightly set the profile picture of the user Nightly",
        "Nightly deleted the profile picture of the user Nightly",
        "Nightly created the project Nightly",
        "Nightly renamed the project Nightly",
        "Nightly archived the project Nightly",
        "Nightly restored the project Nightly",
        "Nightly deleted the project Nightly",
        "Nightly created the pull request Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly renamed the pull request Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly deleted the pull request Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly started a run of Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly claimed a run of Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly acknowledged a run of Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly sent a run of Nightly again in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly completed a run of Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly reported that a run of Nightly failed in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly set the run endpoint",
        "Nightly rotated the secret of the run endpoint",
        "Nightly deleted the run endpoint",
        "Nightly created the schedule Nightly",
        "Nightly changed the schedule Nightly",
        "Nightly paused the schedule Nightly",
        "Nightly resumed the schedule Nightly",
        "Nightly deleted the schedule Nightly",
        "Nightly created the session Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly renamed the session Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly deleted the session Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly added the session file Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly changed the session file Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly deleted the session file Nightly in 019e830e-1a00-75e3-8535-714e84047427",
        "Nightly created the skill Nightly",
        "Nightly changed the skill Nightly",
        "Nightly published another version of the skill Nightly",
        "Nightly deleted the skill Nightly",
        "Nightly created the skill feed Nightly",
        "Nightly deleted the skill feed Nightly",
        "Nightly created the user Nightly",
        "Nightly renamed the user Nightly",
        "Nightly deleted the user Nightly",
      ]
    `)
  })
})

it('name the service where it acted, and the project by its name or, after its deletion, by its ID', async () => {
  const { workspace, addEvents, message, queues, receiver } = await withEndpoint({ format: 'text' })
  const projectId = await workspace.addProject()
  await addEvents(2, (index) => ({
    type: 'schedule.paused',
    resourceId: 'x',
    resourceName: index ? null : 'Nightly',
    projectId: index ? 'gone' : projectId,
  }))
  await deliverBatch([message], queues)
  const [received] = await receiver.received()
  expect(shownBy(received?.body ?? '{}')).toEqual([
    'Workspace API paused the schedule Nightly in Website',
    'Workspace API paused the schedule x in gone',
  ])
})
