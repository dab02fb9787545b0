/** Writes what is deployed: the Worker to dist/, and the pages of public/. */
import { join } from 'node:path'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'
import { bundleModules } from './bundle.ts'
import { writePages } from './pages.ts'
import { writeFolder } from './write-folder.ts'

parsed(
  describeScript(
    'build',
    'Writes the Worker to dist/, and the home page, the reference page, the guides and llms.txt to public/. wrangler runs this before it serves or deploys.',
    [''],
  ),
)
writePages()
const { modules, sourceMaps } = await bundleModules({ entryPoints: ['src/index.ts'], splitting: true })
const files = [...modules, ...sourceMaps].map(({ path, contents }) => [path, contents] as const)
writeFolder(join(ROOT, 'dist'), new Map(files))
