import { useName } from '../names.ts'

/** The name of a project; its ID while the name loads, and if the session may not read it. */
export function ProjectName({ id }: { readonly id: string }) {
  const name = useName('projects', id)
  return <>{name ?? id}</>
}
