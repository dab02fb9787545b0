/** Bundles a Worker. */
import { basename } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

/** The module that workerd starts. */
export const ENTRY = 'index.js'

/** The text of each file, by its name. */
export type Files = ReadonlyMap<string, string>

/**
 * Bundles a Worker for workerd, minified.
 * @param options with `splitting`, what only an `import()` loads is in modules of its own. Otherwise, as in what wrangler
 *   bundles, it is in functions of one module, and the compiler reads the code of a request twice.
 * @returns the modules and their source maps.
 */
export async function bundleModules(
  options: Pick<BuildOptions, 'entryPoints' | 'stdin' | 'splitting'>,
): Promise<Files> {
  const { outputFiles } = await build({
    bundle: true,
    ...options,
    minify: true,
    sourcemap: true,
    write: false,
    outdir: 'dist',
    entryNames: basename(ENTRY, '.js'),
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
  })
  return new Map(outputFiles.map(({ path, text }) => [basename(path), text]))
}
