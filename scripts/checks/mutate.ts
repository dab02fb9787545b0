/** Puts faults into a copy of the code, one at a time, and prints which check or test notices each of them. */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { parseAst } from 'vitest/node'
import { describeScript, parsed, positiveInteger, temporaryFolder, wholeNumber } from '../../tools/command-line.ts'
import { SCRIPT_COMMANDS } from '../../tools/commands.ts'
import { ROOT } from '../../tools/wrangler.ts'

const options = parsed(
  describeScript(
    'mutate',
    'Draws faults, puts one at a time into a copy of the working tree, and prints which check or test in workerd notices it. The score leaves out the faults of scripts/checks/equivalents.json, which change no behaviour.',
    ['--seed 7 --count 20', "--seed 7 --in 'src/cron/**' --list", '--seed 7 --only 3,17'],
  )
    .option('--seed <number>', 'draws these faults (default: a random seed, which is printed)', wholeNumber)
    .option('--count <number>', 'the number of faults (default: 20)', positiveInteger)
    .option('--in <glob>', 'only faults in these files (default: src/**)')
    .option('--only <numbers>', 'of the drawn faults, only those with these numbers')
    .option('--list', 'only print the faults'),
).opts()
const { seed = Math.floor(Math.random() * 1e6), count = 20 } = options

/** A node of the syntax tree. Its other fields depend on its type. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  // biome-ignore lint/suspicious/noExplicitAny: only the parser knows the type of a field.
  readonly [field: string]: any
}
interface Source {
  readonly path: string
  readonly code: string
  readonly nodes: readonly Node[]
  readonly imported: ReadonlySet<string>
}
/** The code from `start` to `end` becomes `text`. */
type Edit = readonly [start: number, end: number, text: string]
interface Fault {
  readonly path: string
  readonly line: number
  readonly operator: string
  /** The changed lines before and after: the key in the list of equivalents. */
  readonly change: string
  readonly code: string
}

const PAIRS = 'and or, asc desc, min max, eq ne, lt lte, gt gte, isNull isNotNull, exists notExists'
const FUNCTIONS = new Map(
  PAIRS.split(', ').flatMap((pair) => [pair.split(' '), pair.split(' ').toReversed()] as [string, string][]),
)
const BOUNDS = new Map(Object.entries({ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' }))
const SIGNS = new Map(Object.entries({ '&&': '||', '||': '&&', '+': '-', '-': '+' }))
const LISTS = new Map(
  Object.entries({ ArrayExpression: 'elements', ObjectExpression: 'properties', CallExpression: 'arguments' }),
)
const TYPES = ['tsc', '--tsBuildInfoFile', '.types.tsbuildinfo'] as const
const BEFORE_ERROR_CODE = /(?:ApiError|failure)\(\s*$/

const codeOf = new Map(globSync('src/**/*.ts', { cwd: ROOT }).map((path) => [path, read(path)]))
const errorCodes = [...codeOf.values()].flatMap((code) =>
  Array.from(code.matchAll(/(?:ApiError|failure)\(\s*'([a-z_]+)'/g), ([, each = '']) => each),
)

/** The edits that each operator can make at a node. */
const OPERATORS: Readonly<Record<string, (node: Node, source: Source) => readonly Edit[]>> = {
  'negates a condition': ({ type, test }, { code }) =>
    /^(If|While)Statement$|^ConditionalExpression$/.test(type) ? [to(test, `!(${textOf(test, code)})`)] : [],
  'moves a bound': (node, { code }) => operator(node, code, BOUNDS.get(node.operator)),
  'exchanges an operator': (node, { code }) => operator(node, code, SIGNS.get(node.operator)),
  'exchanges functions': ({ type, callee }, { imported }) => {
    if (type !== 'CallExpression') return []
    const name = callee.property ?? callee
    const other = FUNCTIONS.get(name.name)
    return other && (callee.property || imported.has(other)) ? [to(name, other)] : []
  },
  'drops an element': (node, { code }) => {
    const list: readonly (Node | null)[] = node[LISTS.get(node.type) ?? ''] ?? []
    return list.flatMap((element, index) => {
      if (!element) return []
      const next = list[index + 1]
      if (next) return [[element.start, next.start, ''] as const]
      const comma = /^\s*,/.exec(code.slice(element.end))?.[0] ?? ''
      return [[list[index - 1]?.end ?? element.start, element.end + comma.length, ''] as const]
    })
  },
  'adds one': (node) => (typeof node.value === 'number' ? [to(node, `${node.value + 1}`)] : []),
  'exchanges true and false': (node) => (typeof node.value === 'boolean' ? [to(node, `${!node.value}`)] : []),
  'removes a statement': (node) => (node.type === 'ExpressionStatement' ? [to(node, '')] : []),
  'removes a step of a chain': ({ type, callee, end }) =>
    type === 'CallExpression' && callee.object?.type === 'CallExpression' ? [[callee.object.end, end, '']] : [],
  'removes an await': ({ type, argument, start }) => (type === 'AwaitExpression' ? [[start, argument.start, '']] : []),
  'drops an early return': (node) =>
    node.type === 'IfStatement' &&
    !node.alternate &&
    /^(Return|Throw)/.test((node.consequent.body?.at(-1) ?? node.consequent).type)
      ? [to(node, '')]
      : [],
  'exchanges columns': (node, { nodes }) => {
    if (!isColumn(node)) return []
    const others = nodes.filter((other) => isColumn(other) && other.object.name === node.object.name)
    return [...new Set(others.map((other) => other.property.name))].map((name) => to(node.property, name))
  },
  'drops a default': ({ type, operator: sign, left, end }) =>
    type === 'AssignmentPattern' || (type === 'LogicalExpression' && sign === '??') ? [[left.end, end, '']] : [],
  'exchanges an error code': (node, { code }) =>
    typeof node.value === 'string' && BEFORE_ERROR_CODE.test(code.slice(node.start - 30, node.start))
      ? errorCodes.map((each) => to(node, `'${each}'`))
      : [],
}

function to({ start, end }: Node, text: string): Edit {
  return [start, end, text]
}

function textOf({ start, end }: Node, code: string): string {
  return code.slice(start, end)
}

function operator({ left, right, operator: sign }: Node, code: string, other: string | undefined): readonly Edit[] {
  // A unary operator has no operand on its left.
  if (other === undefined || !left) return []
  const start = code.indexOf(sign, left.end)
  return start < right.start ? [[start, start + sign.length, other]] : []
}

function isColumn({ type, computed, object }: Node): boolean {
  return type === 'MemberExpression' && !computed && /^[a-z]\w*s$/i.test(object.name ?? '')
}

function sourceOf(path: string): Source {
  const code = codeOf.get(path) ?? ''
  const nodes: Node[] = []
  const program: Node = parseAst(code, { lang: 'ts' })
  const imports = program.body.filter(({ type }: Node) => type === 'ImportDeclaration')
  const names = imports.flatMap(({ specifiers }: Node) => specifiers.map(({ local }: Node) => local.name))
  for (const statement of program.body) if (!imports.includes(statement)) collect(statement, nodes)
  return { path, code, nodes, imported: new Set(names) }
}

/** Leaves types out. */
function collect(node: Node, nodes: Node[]): void {
  if (/^TS(?!As|Satisfies|NonNull)/.test(node.type)) return
  nodes.push(node)
  for (const child of Object.values(node).flat()) if (child?.type) collect(child, nodes)
}

/** What Vitest's report says of a file or a test. */
type Result = { readonly status: string; readonly assertionResults: readonly Result[] }

let state = seed
/** Numbers from 0 to 1, which follow from the seed (mulberry32). */
function random(): number {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

function drawn<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(random() * items.length)]
}

function drawFaults(): Fault[] {
  const paths = globSync(options.in ?? 'src/**', { cwd: ROOT })
    .filter((path) => codeOf.has(path))
    .sort()
  // A file is drawn as often as it has lines.
  const lines = paths.flatMap((path) => Array<string>((codeOf.get(path) ?? '').split('\n').length).fill(path))
  const sources = new Map(paths.map((path) => [path, sourceOf(path)]))
  const faults = new Map<string, Fault>()
  for (let attempts = 0; faults.size < count && attempts < 20 * count; attempts++) {
    const source = sources.get(drawn(lines) ?? '')
    if (!source) continue
    const applicable = Object.entries(OPERATORS)
      .map(([name, editsAt]) => ({ name, edits: source.nodes.flatMap((node) => editsAt(node, source)) }))
      .filter(({ edits }) => edits.length > 0)
    const chosen = drawn(applicable)
    const edit = chosen && drawn(chosen.edits)
    const fault = edit && applied(chosen.name, edit, source)
    if (fault) faults.set(`${fault.path} ${fault.change}`, fault)
  }
  return [...faults.values()]
}

/** @returns nothing if the file would be no valid code, or the same. */
function applied(name: string, [start, end, text]: Edit, { path, code }: Source): Fault | undefined {
  const changed = code.slice(0, start) + text + code.slice(end)
  if (changed === code) return
  try {
    parseAst(changed, { lang: 'ts' })
  } catch {
    return
  }
  const from = code.lastIndexOf('\n', start) + 1
  const until = code.indexOf('\n', end)
  const before = code.slice(from, until)
  const after = code.slice(from, start) + text + code.slice(end, until)
  const change = [before, after].map((lines) => lines.replaceAll(/\s+/g, ' ').trim()).join(' → ')
  return { path, line: code.slice(0, start).split('\n').length, operator: name, change, code: changed }
}

/** @returns the name of the check, or of the first test that fails; nothing if all pass. */
async function noticedBy(path: string): Promise<string | undefined> {
  if (!(await passes(...TYPES))) return 'types'
  const beside = testsBeside(path)
  return (beside && (await failingTest(`${beside}/`))) || (await failingTest()) || differingFile()
}

/** @returns the name of the check of a generated file that fails. */
async function differingFile(): Promise<string | undefined> {
  for (const name of ['sql', 'contracts', 'migrations'] as const) {
    if (!(await passes('node', ...SCRIPT_COMMANDS.check[name].argv))) return `check ${name}`
  }
  return undefined
}

/** The nearest folder of tests in workerd; nothing for files at the top of `src/`. */
function testsBeside(path: string): string | undefined {
  for (let folder = dirname(relative('src', path)); folder !== '.'; folder = dirname(folder)) {
    const tests = join('test', folder)
    if (globSync(`${tests}/**/*.test.ts`, { cwd: copy, exclude: ['**/node/**'] }).length > 0) return tests
  }
  return undefined
}

async function failingTest(...filters: readonly string[]): Promise<string | undefined> {
  const report = join(copy, '.vitest-report.json')
  rmSync(report, { force: true })
  const shown = ['--bail=1', '--passWithNoTests', '--reporter=json', `--outputFile=${report}`]
  const fast = ['--project', 'workerd', '--tags-filter', '!slow', ...filters]
  if (await passes('vitest', 'run', ...fast, ...shown)) return undefined
  const { testResults: files = [] } = existsSync(report) ? JSON.parse(read(report)) : {}
  const failed = ({ status }: Result) => status === 'failed'
  const file = files.find(({ assertionResults }: Result) => assertionResults.some(failed)) ?? files.find(failed)
  const test = file?.assertionResults.find(failed)
  return file ? `${relative(copy, file.name)} ${test?.fullName ?? ''}` : 'tests that do not start or do not end'
}

/** @returns whether it ends with 0 within half an hour, which a fault may make impossible. */
async function passes(program: string, ...args: readonly string[]): Promise<boolean> {
  const command = program === 'node' ? process.execPath : join(copy, 'node_modules', '.bin', program)
  const { promise, resolve: ended } = Promise.withResolvers<number | null>()
  const running = spawn(command, args, { cwd: copy, stdio: 'ignore', detached: true }).on('close', ended)
  const end = () => void (running.pid && process.kill(-running.pid, 'SIGKILL'))
  process.once('exit', end)
  const timeout = setTimeout(end, 30 * 60_000)
  const status = await promise
  clearTimeout(timeout)
  process.off('exit', end)
  return status === 0
}

function read(file: string): string {
  return readFileSync(resolve(ROOT, file), 'utf8')
}

function copyTree(): string {
  const tree = join(temporaryFolder(join(tmpdir(), 'workspace-api-mutate-')), 'tree')
  const isCopied = (path: string) => !/(?:^|\/)(?:node_modules|dist|\.git|\.vitest|\.wrangler.*)$/.test(path)
  cpSync(ROOT, tree, { recursive: true, filter: (path) => isCopied(relative(ROOT, path)) })
  for (const folder of globSync('{.,*}/node_modules', { cwd: ROOT }))
    symlinkSync(join(ROOT, folder), join(tree, folder))
  return tree
}

/** Why a fault changes no behaviour, by file and change. */
const equivalents: Record<string, Record<string, string>> = JSON.parse(read('scripts/checks/equivalents.json'))

const faults = drawFaults()
const only = new Set(options.only?.split(',').map(Number) ?? faults.map((_, index) => index + 1))
const copy = options.list ? '' : copyTree()
const counts = { noticed: 0, equivalent: 0, unnoticed: 0 }
console.log(`${faults.length} faults, --seed ${seed}`)
if (!options.list) {
  const failing = (await passes(...TYPES)) ? await differingFile() : 'types'
  if (failing) throw new Error(`Without a fault, this fails: ${failing}`)
}
for (const [index, fault] of faults.entries()) {
  if (!only.has(index + 1)) continue
  const { path, line, operator: name, change, code } = fault
  console.log(`${index + 1}. ${path}:${line} ${name}\n   ${change}`)
  const reason = equivalents[path]?.[change]
  if (reason !== undefined) counts.equivalent++
  if (reason !== undefined) console.log(`   changes no behaviour: ${reason}`)
  if (options.list || reason !== undefined) continue
  const file = join(copy, path)
  writeFileSync(file, code)
  const notice = await noticedBy(path)
  writeFileSync(file, codeOf.get(path) ?? '')
  if (notice === undefined) counts.unnoticed++
  else counts.noticed++
  console.log(`   ${notice ?? 'NOTHING notices it'}`)
}
const { noticed, unnoticed, equivalent } = counts
if (!options.list) console.log(`${noticed} of ${noticed + unnoticed} are noticed; ${equivalent} more change nothing`)
if (unnoticed > 0) process.exitCode = 1
