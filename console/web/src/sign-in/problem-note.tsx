/** Why the person is not signed in, and what helps. */
import type { ReactNode } from 'react'
import { showMessage } from '../messages.ts'
import type { SignInProblem } from './problem.ts'
import styles from './sign-in.module.css'

export function ProblemNote({ problem }: { readonly problem: SignInProblem }) {
  const provider = problem.provider ?? 'the identity provider'
  const [title, help] = textsOf(problem, provider)
  return (
    <section className={styles.problem} role="alert" data-tone={problem.reason === 'expired' ? 'quiet' : 'bad'}>
      <h2>{title}</h2>
      <p>{help}</p>
      {problem.detail && <p className="small anywhere">{problem.detail}</p>}
      {problem.claims.length > 0 && <Claims claims={problem.claims} provider={provider} />}
    </section>
  )
}

const ADMIN = 'an admin of your organization'

const GITHUB_HELP =
  'If a GitHub organization is missing there, one of its owners has to approve this app, or you have to sign in to it with its single sign-on first.'

function textsOf(
  { reason, organization, providerType }: SignInProblem,
  provider: string,
): readonly [title: string, help: ReactNode] {
  switch (reason) {
    case 'not_admitted':
      return [
        'You have no access',
        `No sign-in rule of the organization admits you. Ask ${ADMIN} to add one for a claim below. ${providerType === 'github' ? GITHUB_HELP : ''}`,
      ]
    case 'blocked':
      return ['Your access is blocked', `Ask ${ADMIN} to unblock you.`]
    case 'organization_unavailable':
      return [
        'The organization is not available',
        organization === null
          ? `Ask ${ADMIN} for the address of its sign-in page.`
          : `There is no organization ${organization}, or it is suspended or being moved. Check the address, or ask ${ADMIN}.`,
      ]
    case 'user_quota':
      return ['The organization is full', `It has its maximum number of users. Ask ${ADMIN} to remove one.`]
    case 'expired':
      return [
        'Start again',
        'This sign-in took longer than 10 minutes, or another one was started in this browser after it.',
      ]
    case 'no_organization':
      return [
        'Which organization?',
        `The address does not name your organization. Ask ${ADMIN} for the address of its sign-in page.`,
      ]
    case 'unknown_provider':
      return ['Unknown identity provider', 'The console has no identity provider with this name.']
    case 'provider_refused':
      return [`${provider} refused the sign-in`, 'Start again, or ask the people who manage it.']
    case 'provider_unavailable':
      return [`${provider} did not respond`, 'Try again in a minute.']
    case 'provider_invalid':
      return [
        `The response of ${provider} is not valid`,
        'Nobody was signed in. Start again. If it stays like this, tell the operator of the console.',
      ]
    case 'too_many_requests':
      return ['Too many sign-ins', 'Many sign-ins came from your network within a minute. Try again in a minute.']
    case 'unavailable':
      return ['The service is temporarily unavailable', 'Try again in a minute.']
  }
}

/** What the provider says of the person, for the admin who writes the rule. */
function Claims({ claims, provider }: { readonly claims: SignInProblem['claims']; readonly provider: string }) {
  const copy = async () => {
    await navigator.clipboard.writeText(claims.map((claim) => claim.join('=')).join('\n'))
    showMessage('Copied')
  }
  return (
    <>
      <h3>What {provider} says of you</h3>
      <dl className={styles.claims} tabIndex={0} aria-label="Claims">
        {claims.map(([claim, value]) => (
          <div key={JSON.stringify([claim, value])}>
            <dt className="anywhere">{claim}</dt>
            <dd className="anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => void copy()}>
        Copy the claims
      </button>
    </>
  )
}
