/** The addresses of a sign-in, as the browser opens them. */
import type { SignInProblem } from '../src/providers/problem.ts'

export interface Answer {
  readonly status: number
  readonly location: string | null
  readonly cookies: readonly string[]
  readonly html: string
  /** What the page shows. */
  readonly problem: SignInProblem | undefined
}

export async function openPage(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const ofBrowser = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'document' }
  const response = await fetch(url, { redirect: 'manual', headers: { ...ofBrowser, ...headers } })
  const html = await response.text()
  const [, json] = /<script type="application\/json" id="sign-in-problem">(.*?)<\/script>/s.exec(html) ?? []
  return {
    status: response.status,
    location: response.headers.get('Location'),
    cookies: response.headers.getSetCookie(),
    html,
    problem: json === undefined ? undefined : JSON.parse(json),
  }
}
