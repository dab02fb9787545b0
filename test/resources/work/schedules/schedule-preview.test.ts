import { describe, expect, it } from 'vitest'
import { type RequestOptions, request } from '../../../support/api.ts'
import { MINUTE_MS } from '../../../support/runs.ts'
import { cronOfLength, PROJECT, withParent } from '../../../support/schedules.ts'
import { now, Workspace } from '../../../support/workspace.ts'

describe('previewSchedule', () => {
  async function withPreview() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    /** @param query a record that is percent-encoded here, or text that is sent as it is. */
    const preview = (query: Record<string, string> | string, more: RequestOptions = {}) =>
      request('GET', `/v1/schedule-preview?${typeof query === 'string' ? query : new URLSearchParams(query)}`, {
        key,
        ...more,
      })
    return { workspace, key, preview }
  }

  it('returns the next five instants in UTC from now by default', async () => {
    const { preview } = await withPreview()
    const before = Date.parse(now())
    const { status, body } = await preview('cron=*+*+*+*+*')
    expect(status).toBe(200)
    const first = Date.parse(body.items[0].at)
    expect(first > before && first <= Date.parse(now()) + MINUTE_MS).toBe(true)
    const instants = [0, 1, 2, 3, 4].map((minutes) => new Date(first + minutes * MINUTE_MS).toISOString())
    expect(body).toEqual({
      items: instants.map((at) => ({ at, localTime: at.replace(/\.000Z$/, '+00:00') })),
    })
  })

  it.each([
    ['1', 1],
    ['100', 100],
  ])('returns %s instants', async (count, length) => {
    const { preview } = await withPreview()
    const { body } = await preview({ cron: '0 0 29 2 *', count, from: '2026-01-01T00:00:00.000Z' })
    expect(body.items).toHaveLength(length)
    expect(new Set(body.items.map(({ at }: { at: string }) => at)).size).toBe(length)
  })

  it.each([
    [{ count: '0' }, /^count is too small;.* 1 to 100\.$/],
    [{ count: '101' }, /^count is too large;.* 1 to 100\.$/],
    [{ count: '-1' }, /^count is not a whole number;/],
    [{ count: '1.5' }, /^count is not a whole number;/],
    [{ count: '' }, /^count is not a whole number;/],
    [{ from: '1969-12-31T23:59:59.999Z' }, /^from is out of range;.*1970/],
    [{ from: '3000-01-01T00:00:00.000Z' }, /^from is out of range;.*2999/],
    [{ from: '' }, /^from is not an RFC 3339 time;/],
    [{ timezone: '+02:00' }, /^timezone is not an IANA time zone;/],
    [{ timezone: 'PST' }, /^timezone is not an IANA time zone;/],
    [{ timezone: '' }, /^timezone /],
    [{ cron: '' }, /^cron /],
    [{ cron: '* * * * * *' }, /^cron does not have five fields;/],
    [{ cron: '0 0 30 2 *' }, /^cron never fires;/],
  ])('refuses %j', async (query: Record<string, string>, sentence) => {
    const { preview } = await withPreview()
    const { status, body } = await preview({ cron: '@daily', ...query })
    expect([status, body]).toEqual([400, { error: expect.stringMatching(sentence) }])
  })

  it('requires a cron expression of up to 500 characters', async () => {
    const { preview } = await withPreview()
    const without = await preview('timezone=UTC')
    expect([without.status, without.body]).toEqual([400, { error: expect.stringMatching(/^cron is missing;/) }])
    expect((await preview({ cron: cronOfLength(500) })).status).toBe(200)
    expect((await preview({ cron: cronOfLength(501) })).status).toBe(400)
  })

  it.each([
    ['1970-01-01T00:00:00.000Z', '1970-01-01T00:01:00.000Z'],
    ['2026-03-10T11:59:59.999Z', '2026-03-10T12:00:00.000Z'],
    ['2026-03-10T12:00:00.000Z', '2026-03-10T12:01:00.000Z'],
    ['2999-12-31T23:59:59.999Z', '3000-01-01T00:00:00.000Z'],
    ['2026-03-10T12:00:00Z', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10t12:00:00z', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10T14:00:00+02:00', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10t06:30:00.0-05:30', '2026-03-10T12:01:00.000Z'],
    ['2026-03-10T12:00:00-00:00', '2026-03-10T12:01:00.000Z'],
    ['2026-03-11T11:59:00+23:59', '2026-03-10T12:01:00.000Z'],
    ['2028-02-29T23:59:59.99999Z', '2028-03-01T00:00:00.000Z'],
    [`2026-03-10T11:59:59.${'9'.repeat(200)}Z`, '2026-03-10T12:00:00.000Z'],
    ['1969-12-31T23:30:00-01:00', '1970-01-01T00:31:00.000Z'],
  ])('begins strictly after %s', async (from, at) => {
    const { preview } = await withPreview()
    expect((await preview({ cron: '* * * * *', from, count: '1' })).body.items[0].at).toBe(at)
  })

  it.each([
    [
      'Australia/Lord_Howe',
      '30 1 * * *',
      '2026-04-04T00:00:00.000Z',
      ['2026-04-04T14:30:00.000Z 2026-04-05T01:30:00+11:00', '2026-04-05T15:00:00.000Z 2026-04-06T01:30:00+10:30'],
    ],
    [
      'Australia/Lord_Howe',
      '15 2 * * *',
      '2026-10-03T00:00:00.000Z',
      ['2026-10-03T15:30:00.000Z 2026-10-04T02:30:00+11:00', '2026-10-04T15:15:00.000Z 2026-10-05T02:15:00+11:00'],
    ],
    [
      'America/New_York',
      '*/30 1 * * *',
      '2026-11-01T05:00:00.000Z',
      [
        '2026-11-01T05:30:00.000Z 2026-11-01T01:30:00-04:00',
        '2026-11-01T06:00:00.000Z 2026-11-01T01:00:00-05:00',
        '2026-11-01T06:30:00.000Z 2026-11-01T01:30:00-05:00',
        '2026-11-02T06:00:00.000Z 2026-11-02T01:00:00-05:00',
      ],
    ],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-11-01T00:00:00.000Z',
      ['2026-11-01T05:30:00.000Z 2026-11-01T01:30:00-04:00', '2026-11-02T06:30:00.000Z 2026-11-02T01:30:00-05:00'],
    ],
    ['Asia/Kathmandu', '0 0 * * *', '2026-03-10T12:00:00.000Z', ['2026-03-10T18:15:00.000Z 2026-03-11T00:00:00+05:45']],
    [
      'Pacific/Marquesas',
      '0 20 * * *',
      '2026-03-10T12:00:00.000Z',
      ['2026-03-11T05:30:00.000Z 2026-03-10T20:00:00-09:30'],
    ],
    [
      'America/St_Johns',
      '59 23 * * *',
      '2026-07-10T12:00:00.000Z',
      ['2026-07-11T02:29:00.000Z 2026-07-10T23:59:00-02:30'],
    ],
    [
      'Pacific/Kiritimati',
      '0 0 1 1 *',
      '2026-07-10T12:00:00.000Z',
      ['2026-12-31T10:00:00.000Z 2027-01-01T00:00:00+14:00'],
    ],
    ['Etc/GMT+12', '0 0 1 1 *', '2026-07-10T12:00:00.000Z', ['2027-01-01T12:00:00.000Z 2027-01-01T00:00:00-12:00']],
    [
      'Africa/Monrovia',
      '0 9 * * *',
      '1971-05-01T00:00:00.000Z',
      ['1971-05-01T09:44:30.000Z 1971-05-01T09:00:00-00:44:30'],
    ],
  ])('returns the local time in %s with its offset: %s', async (timezone, cron, from, expected) => {
    const { preview } = await withPreview()
    const { body } = await preview({ cron, timezone, from, count: String(expected.length) })
    expect(body.items.map(({ at, localTime }: Record<string, string>) => `${at} ${localTime}`)).toEqual(expected)
  })

  it('reads a plus in the query as a space', async () => {
    const { preview } = await withPreview()
    const from = '2026-03-10T12:00:00.000Z'
    const answers = []
    for (const cron of ['0+9+*+*+1-5', '0%209%20*%20*%201-5', '0 9 * * 1-5']) {
      answers.push((await preview(`cron=${cron}&timezone=Etc/GMT%2B5&from=${from}&count=1`)).body)
    }
    const items = [{ at: '2026-03-10T14:00:00.000Z', localTime: '2026-03-10T09:00:00-05:00' }]
    expect(answers).toEqual([{ items }, { items }, { items }])
    expect((await preview('cron=@daily&timezone=Etc/GMT+5')).status).toBe(400)
    expect((await preview('cron=0%2B9%2B*%2B*%2B*')).status).toBe(400)
  })

  it('begins with the next run that a new schedule would have', async () => {
    const { create } = await withParent(PROJECT)
    const json = { cron: '*/7 3,15 * * mon-fri', timezone: 'America/Havana' }
    const { body } = await create(json)
    const { preview } = await withPreview()
    expect((await preview({ ...json, from: body.createdAt, count: '1' })).body.items[0].at).toBe(body.nextRunAt)
  })

  it('allows every valid API key, and no other', async () => {
    const { workspace, preview } = await withPreview()
    const least = await workspace.addKey({ scopes: [], userId: null, projectIds: [] })
    expect((await preview({ cron: '@daily' }, { key: least })).status).toBe(200)
    const expired = await workspace.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' })
    expect((await preview({ cron: '@daily' }, { key: expired })).status).toBe(401)
    expect((await preview({ cron: 'x' }, { key: expired })).status).toBe(401)
  })
})
