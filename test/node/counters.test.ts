import { describe, expect, it } from 'vitest'
import { committedCounters, differences, measureCounters } from '../../bench/counters.ts'

describe('the counters of bench/counters.json', () => {
  it('are those of the service', { tags: ['slow'] }, async () => {
    expect(differences(committedCounters(), await measureCounters())).toEqual([])
  })

  it('name what is worse, and by how much', () => {
    const before = { updatePin: { 'D1 calls': 1, 'rows read': 68 }, listPins: { 'rows read': 5 } }
    const now = { updatePin: { 'D1 calls': 1, 'rows read': 71 }, listPins: { 'rows read': 5 } }
    expect(differences(before, now)).toEqual(['updatePin: rows read 68 → 71 (+3)'])
  })

  it('ask for the lower number of what is better, and for new names', () => {
    const before = { updatePin: { 'rows read': 68 }, putPin: { 'rows read': 3 } }
    const now = { updatePin: { 'rows read': 60 }, deletePin: { 'rows read': 3 } }
    expect(differences(before, now)).toEqual([
      'updatePin: rows read 68 → 60 (-8). Better. Lower the committed number: npm run generate -- counters',
      'putPin is gone. Remove it: npm run generate -- counters',
      'deletePin is new. Add it: npm run generate -- counters',
    ])
  })
})
