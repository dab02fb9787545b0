import { failure } from '../../errors.ts'

export const ruleNotFound = failure('sign_in_rule_not_found', 'There is no sign-in rule with this signInRuleId.')
export const ruleLimit = failure(
  'sign_in_rule_limit',
  'The organization has reached the limit of sign-in rules: {limit}. Delete one first.',
)
