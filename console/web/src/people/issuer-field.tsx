/** The identity provider of a rule or of a person, with those that are known to choose from. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useMe } from '../api.ts'
import { Field } from '../components/field.tsx'
import { readSignInWays } from '../session.ts'
import { rulesQuery } from '../sign-in-data.ts'

interface IssuerFieldProps {
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The issuers of the console's settings, with their names. */
const providersQuery = (organizationId: string) =>
  queryOptions({
    queryKey: ['providers', organizationId],
    queryFn: async () => {
      const ways = await readSignInWays(organizationId)
      return ways instanceof Error ? [] : ways.providers.map(({ issuer, name }) => [issuer, name] as const)
    },
  })

/** The issuer with which a form begins: that of the only provider, or none. */
export function useOnlyIssuer(): string {
  const { organization } = useMe()
  const { data: providers = [] } = useQuery(providersQuery(organization.id))
  const [[issuer] = [], ...others] = providers
  return issuer !== undefined && others.length === 0 ? issuer : ''
}

export function IssuerField({ value, onChange }: IssuerFieldProps) {
  const { organization } = useMe()
  const { data: rules = [] } = useQuery(rulesQuery)
  const { data: providers = [] } = useQuery(providersQuery(organization.id))
  const listId = useId()
  const known = new Map([...rules.map(({ issuer }) => [issuer, ''] as const), ...providers])
  return (
    <Field label="Identity provider" help="The claim iss of its ID tokens.">
      {(attributes) => (
        <>
          <input
            {...attributes}
            type="url"
            required
            list={listId}
            placeholder="https://login.example.com"
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          <datalist id={listId}>
            {Array.from(known, ([issuer, name]) => (
              <option key={issuer} value={issuer}>
                {name}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
