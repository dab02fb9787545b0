/** How people can sign in, as the console Worker says it. Without an import, because tests on Node read it too. */
export interface SignInWays {
  readonly providers: readonly { readonly id: string; readonly name: string; readonly issuer: string }[]
  readonly hasApiKeys: boolean
  /** Other providers are for people who name their organization. */
  readonly needsOrganization: boolean
  /** What is wrong with the settings of the console. */
  readonly problems: readonly string[]
}
