/** CHANGELOG.md, in the format of Keep a Changelog. */

const UNRELEASED = '## [Unreleased]'

/** Moves what is unreleased under a version. @param date such as `2026-11-23`. @throws if there is nothing to release. */
export function addRelease(changelog: string, version: string, date: string): string {
  if (findNotes(changelog, version) !== undefined) throw new Error(`CHANGELOG.md has ${version} already.`)
  if (!findNotes(changelog, 'Unreleased')) throw new Error(`CHANGELOG.md has nothing under "${UNRELEASED}".`)
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${date}`)
}

/** The text under the heading of a version; undefined without the heading. */
export function findNotes(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^(?=## )/m)
  const section = sections.find((each) => each.startsWith(`## [${version}]`))
  return section?.split('\n').slice(1).join('\n').trim()
}
