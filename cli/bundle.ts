/** The bundle of the command `workspace`, for build.ts and docs/dependencies.md. */
import { join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')

interface CommandBundle {
  readonly code: Uint8Array
  /** The folders of the packages whose code is in it, relative to the repository. */
  readonly packages: readonly string[]
}

export async function bundleCommand(): Promise<CommandBundle> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['cli/src/workspace.ts'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'warning',
    outdir: 'unused',
    write: false,
    metafile: true,
  })
  const [output] = Object.values(metafile.outputs)
  const files = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  const packages = files.flatMap(([file]) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  return { code: outputFiles[0]?.contents ?? new Uint8Array(), packages: [...new Set(packages)].sort() }
}
