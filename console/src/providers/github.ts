/** GitHub: OAuth without OpenID Connect. Who somebody is comes from its REST API. */
import * as oauth from 'oauth4webapi'
import { authorizationRequest, type CodeFlow, clientOf, optionsOf, redeem } from './code-flow.ts'
import { identifiedBy, isText } from './identified.ts'
import { isObject, ProviderError, readJson, readObject } from './provider-error.ts'
import { type CodeProvider, GITHUB } from './providers.ts'

const PAGE_SIZE = 100
/** The most pages of each list. A Worker may send 50 requests. */
const MAX_PAGES = 10

export const github: CodeFlow = {
  authorizationUrl: (provider, attempt, redirectUri) =>
    authorizationRequest(serverOf(provider), provider, attempt, redirectUri),

  async identify(provider, attempt, callback, redirectUri) {
    const server = serverOf(provider)
    const response = await withStatus(await redeem(server, provider, attempt, callback, redirectUri))
    const { access_token } = await oauth.processAuthorizationCodeResponse(server, clientOf(provider), response)
    const ask = (path: string) => request(provider, access_token, path)
    const [user, emails, organizations, teams] = await Promise.all([
      ask('/user').then((found) => readObject(found, 'The endpoint /user')),
      listAll(ask, '/user/emails'),
      listAll(ask, '/user/orgs'),
      listAll(ask, '/user/teams'),
    ])
    const { id, login, name, avatar_url: picture } = user
    if (!Number.isSafeInteger(id) || !isText(login)) {
      throw new ProviderError('provider_invalid', 'The endpoint /user named no user.')
    }
    const email = emails.find(({ primary, verified }) => primary === true && verified === true)?.email
    return identifiedBy({
      iss: provider.issuer,
      // Logins can be changed, and then belong to others.
      sub: String(id),
      login,
      name: isText(name) ? name : login,
      email,
      email_verified: email !== undefined,
      organization: organizations.map((each) => each.login),
      team: teams.flatMap(({ slug, organization }) =>
        isObject(organization) && isText(organization.login) && isText(slug) ? `${organization.login}/${slug}` : [],
      ),
      picture,
    })
  },
}

function serverOf({ issuer }: CodeProvider): oauth.AuthorizationServer {
  const base = `${issuer}/login/oauth`
  return {
    // GitHub's name for itself in the callback.
    issuer: base,
    authorization_endpoint: `${base}/authorize`,
    token_endpoint: `${base}/access_token`,
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  }
}

/** GitHub sends errors of the token endpoint with the status 200. */
async function withStatus(response: Response): Promise<Response> {
  if (response.status !== 200) return response
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  return isObject(body) && 'error' in body ? Response.json(body, { status: 400 }) : response
}

function request(provider: CodeProvider, token: string, path: string): Promise<Response> {
  const api = provider.issuer === GITHUB ? 'https://api.github.com' : `${provider.issuer}/api/v3`
  const headers = new Headers({ Accept: 'application/vnd.github+json', 'X-GitHub-Api-Version': '2022-11-28' })
  return oauth.protectedResourceRequest(token, 'GET', new URL(api + path), headers, null, optionsOf(provider))
}

type Item = Readonly<Record<string, unknown>>

/** A page may have fewer items than asked for, as GitHub leaves out what the app may not see, so it says what is next. */
async function listAll(ask: (path: string) => Promise<Response>, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1; page <= MAX_PAGES; page++) {
    const response = await ask(`${path}?per_page=${PAGE_SIZE}&page=${page}`)
    const found = await readJson(response, `The endpoint ${path}`)
    if (!Array.isArray(found)) throw new ProviderError('provider_invalid', `The endpoint ${path} sent no list.`)
    items.push(...found.filter(isObject))
    if (!response.headers.get('Link')?.includes('rel="next"')) break
  }
  return items
}
