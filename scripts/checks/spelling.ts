/** The spelling of the documentation and of the OpenAPI document, and the articles "a" and "an". */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import dictionary from 'dictionary-en-gb'
import nspell from 'nspell'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'

parsed(
  describeScript(
    'check spelling',
    'Checks the spelling of the documentation and of the OpenAPI document, and the articles "a" and "an". Code, names in camelCase and abbreviations in capitals are skipped. scripts/checks/spelling-words.txt has the words of the project.',
    [''],
  ),
)

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

const checker = nspell(Buffer.from(dictionary.aff).toString(), Buffer.from(dictionary.dic).toString())
for (const word of read('scripts/checks/spelling-words.txt').split('\n')) checker.add(word.trim())

/** Words that begin with a vowel but not with its sound, and the other way round. */
const CONSONANT_SOUND = /^(?:u(?:ni|se|su|ti)|eu|one|once)/i
const VOWEL_SOUND = /^(?:hour|honest|https?\b)/
/** Abbreviations that are read letter by letter and begin with the sound of a vowel. */
const VOWEL_LETTER = /^(?!NUL)[AEFHILMNORSX][A-Z0-9]+s?$/
const ABBREVIATION = /^[A-Z][A-Z0-9]+s?$/

/** The texts of the repository's documents, by place. */
function* texts(): Generator<[place: string, text: string]> {
  // A generated list of packages is left out.
  const files = globSync(['*.md', 'docs/*.md', 'test/*.md', 'client/*.md', 'cli/*.md', 'mcp/*.md'], {
    cwd: ROOT,
    exclude: ['docs/dependencies.md'],
  }).sort()
  for (const file of files) {
    const prose = read(file).replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank)
    for (const [index, line] of prose.split('\n').entries()) yield [`${file}:${index + 1}`, line]
  }
  yield* descriptionsIn(JSON.parse(read('public/openapi.json')), 'public/openapi.json')
}

/** Keeps the line breaks. */
const blank = (block: string) => block.replaceAll(/[^\n]/g, '')

function* descriptionsIn(value: unknown, place: string): Generator<[string, string]> {
  for (const [name, inner] of Object.entries(Object(value) === value ? (value as object) : {})) {
    const isText = typeof inner === 'string' && ['description', 'summary'].includes(name)
    if (isText) yield [place, inner]
    else if (!name.startsWith('example')) yield* descriptionsIn(inner, `${place} ${name}`)
  }
}

function problemsIn(text: string): string[] {
  const prose = text.replaceAll(/`[^`]*`/g, ' `` ').replaceAll(/\]\([^)]*\)|https?:\S+|<[^>]*>|\*\*/g, ' ')
  const words = prose.match(/(?<![\w@./])[A-Za-z]+(?:['’][a-z]+)?(?![\w/@]|\.\w)/g) ?? []
  const misspelled = words
    .filter((word) => !/[a-z][A-Z]|^[A-Z]+s?$/.test(word))
    .filter((word) => !isCorrect(word.replace(/['’]s$/, '').replace('’', "'")))
  const articles = Array.from(prose.matchAll(/\b(an?) (\w+)/gi))
    .filter(([, article = '', next = '']) => (article.toLowerCase() === 'an') !== takesAn(next))
    .map(([found]) => `"${found}"`)
  return [...misspelled, ...articles]
}

/** British spelling, with `-ise` or `-ize`. */
function isCorrect(word: string): boolean {
  return checker.correct(word) || checker.correct(word.replace(/iz(?=[aei])/, 'is'))
}

function takesAn(word: string): boolean {
  if (ABBREVIATION.test(word)) return VOWEL_LETTER.test(word)
  return VOWEL_SOUND.test(word) || (/^[aeiou]/i.test(word) && !CONSONANT_SOUND.test(word))
}

for (const [place, text] of texts()) {
  for (const problem of new Set(problemsIn(text))) {
    console.error(`${place}: ${problem}`)
    process.exitCode = 1
  }
}
if (process.exitCode) console.error('Correct the text, or add the word to scripts/checks/spelling-words.txt.')
