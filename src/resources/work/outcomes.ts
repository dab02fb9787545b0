/** The outcomes of a run that a runner reports. In a file of its own, because schedules do without the schemas of runs. */
export const OUTCOMES = ['succeeded', 'failed'] as const
