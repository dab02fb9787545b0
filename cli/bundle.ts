/** The bundle of the command `workspace`. */
import { join } from 'node:path'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')

/** The files of the bundle. The command imports the second one only if there is a proxy. */
const ENTRIES = ['cli/src/workspace.ts', 'cli/src/proxied-fetch.ts']

/**
 * Writes the bundle into a folder.
 * @param folder it is not written if this is left out.
 * @returns the folders of the packages whose code is in it, relative to the repository.
 */
export async function bundleCommand(folder?: string): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'warning',
    outdir: folder ?? 'unused',
    outExtension: { '.js': '.cjs' },
    write: folder !== undefined,
    metafile: true,
    plugins: [
      {
        name: 'import of the second file',
        setup({ onResolve }) {
          onResolve({ filter: /\/proxied-fetch\.ts$/ }, ({ kind }) =>
            kind === 'dynamic-import' ? { path: './proxied-fetch.cjs', external: true } : undefined,
          )
        },
      },
    ],
  })
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
  )
  const packages = files.flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])
  return [...new Set(packages)].sort()
}
