/** Writes what several operations have in common once, in the components of the OpenAPI document. */
import type { createDocument } from 'zod-openapi'

/** The most common variant under each name, if several operations have it. */
export function commonVariants(all: readonly { readonly name: string; readonly variant: string }[]) {
  const counts = new Map<string, number>()
  const countOf = (name: string, variant = '') => counts.get(`${name} ${variant}`) ?? 0
  const common = new Map<string, string>()
  for (const { name, variant } of all) {
    counts.set(`${name} ${variant}`, countOf(name, variant) + 1)
    const isCommon = countOf(name, variant) > Math.max(1, countOf(name, common.get(name)))
    if (isCommon) common.set(name, variant)
  }
  return common
}

interface Parameter {
  readonly in: string
  readonly name: string
  /** With the name of its component, if that is not the name of the parameter. */
  readonly schema: { description?: string | undefined; example?: unknown; component?: string }
  description?: string | undefined
  example?: unknown
}

interface DescribedOperation {
  readonly parameters?: Parameter[]
  readonly responses: Readonly<Record<string, { readonly headers?: Record<string, object> }>>
}

/** Writes the most common variant of each parameter and each header once, in the components. */
export function shareVariants(document: ReturnType<typeof createDocument>) {
  const described = Object.values(document.paths ?? {}).flatMap(
    (path) => Object.values(path) as unknown as DescribedOperation[],
  )
  const lists = described.map(({ parameters = [] }) => parameters)
  for (const parameter of lists.flat()) {
    parameter.description ??= parameter.schema.description
    delete parameter.schema.description
    const { example } = parameter.schema
    // The reference page sends every example.
    const isSent = parameter.in !== 'header' && parameter.name !== 'cursor'
    if (isSent && example !== undefined) parameter.example = example
    delete parameter.schema.example
  }
  const parameters = shareVariantsOf(
    'parameters',
    lists.flatMap((list) =>
      list.map((value, key) => {
        const { component, ...schema } = value.schema
        const isNamed = component !== undefined
        return { name: component ?? value.name, isNamed, value: { ...value, schema }, holder: list, key }
      }),
    ),
  )
  const headers = shareVariantsOf(
    'headers',
    described.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ headers: holder = {} }) =>
        Object.entries(holder)
          .filter(([, value]) => !('$ref' in value))
          .map(([name, value]) => ({ name, value, holder, key: name })),
      ),
    ),
  )
  const { components } = document
  return {
    ...document,
    components: { ...components, parameters, headers: { ...components?.headers, ...headers } },
  }
}

interface Use {
  readonly name: string
  /** True if the contract names the component, which then exists even if only one operation has it. */
  readonly isNamed?: boolean
  readonly value: object
  readonly holder: object
  readonly key: string | number
}

/** @returns what the references refer to. */
function shareVariantsOf(kind: 'parameters' | 'headers', uses: readonly Use[]) {
  const common = commonVariants(uses.map(({ name, value }) => ({ name, variant: JSON.stringify(value) })))
  for (const { name, isNamed, value } of uses) if (isNamed) common.set(name, JSON.stringify(value))
  for (const { name, value, holder, key } of uses) {
    if (common.get(name) !== JSON.stringify(value)) continue
    Object.assign(holder, { [key]: { $ref: `#/components/${kind}/${name}` } })
  }
  return Object.fromEntries(Array.from(common, ([name, variant]) => [name, JSON.parse(variant)]))
}
