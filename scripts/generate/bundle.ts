/** Bundles a Worker. */
import { basename } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { ROOT } from '../../tools/wrangler.ts'

/** Not `.js`, because a rule of wrangler.toml says what its modules are, and in tests it is one for dependencies, too. */
const EXTENSION = '.mjs'

/** A file of a bundle. */
export interface BundleFile {
  readonly path: string
  readonly contents: string
}

export interface ModuleBundle {
  /** The one that workerd starts comes first. */
  readonly modules: readonly BundleFile[]
  readonly sourceMaps: readonly BundleFile[]
}

/**
 * Bundles a Worker for workerd, minified.
 * @param options with `splitting`, what only an `import()` loads is in modules of its own. Otherwise, as in what wrangler
 *   bundles, it is in functions of one module, and the compiler reads the code of a request twice.
 */
export async function bundleModules(
  options: Pick<BuildOptions, 'entryPoints' | 'stdin' | 'splitting'>,
): Promise<ModuleBundle> {
  const { outputFiles } = await build({
    ...options,
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    sourcemap: true,
    write: false,
    outdir: 'dist',
    entryNames: 'index',
    outExtension: { '.js': EXTENSION },
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
  })
  const files = outputFiles.map(({ path, text }) => ({ path: basename(path), contents: text }))
  const isEntry = ({ path }: BundleFile) => path === `index${EXTENSION}`
  return {
    modules: files
      .filter(({ path }) => path.endsWith(EXTENSION))
      .sort((a, b) => Number(isEntry(b)) - Number(isEntry(a))),
    sourceMaps: files.filter(({ path }) => path.endsWith('.map')),
  }
}
