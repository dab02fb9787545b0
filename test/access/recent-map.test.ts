import { expect, it } from 'vitest'
import { MAX_ENTRIES, RecentMap } from '../../src/access/recent-map.ts'

it('keeps the most recently set entries', () => {
  const map = new RecentMap<number, string>()
  for (let key = 0; key < MAX_ENTRIES; key++) map.set(key, 'old')
  map.set(0, 'new').set(-1, 'new').set(-2, 'new')
  expect(map.size).toBe(MAX_ENTRIES)
  expect([0, -1, -2, 1, 2, 3].map((key) => map.get(key))).toEqual(['new', 'new', 'new', undefined, undefined, 'old'])
})
