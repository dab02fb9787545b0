/** curl, for commands of the documentation: it need not be installed. */
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'

/** What a shell would call curl with: the arguments of each call. */
export function curlCallsOf(lines: string, variables: NodeJS.ProcessEnv = process.env): string[][] {
  const print = `curl() { '${process.execPath}' -e 'console.log(JSON.stringify(process.argv.slice(1)))' -- "$@"; }`
  const printed = execFileSync('sh', ['-euc', `${print}\n${lines}`], { encoding: 'utf8', env: variables })
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Does what the arguments tell curl to do. */
export async function runCurl(args: string[]): Promise<Response> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      method: { type: 'string', short: 'X', default: 'GET' },
      header: { type: 'string', short: 'H', multiple: true, default: [] },
      data: { type: 'string', short: 'd' },
    },
  })
  const headers = values.header.map((header) => header.split(': ') as [string, string])
  const [url = ''] = positionals
  return fetch(url, { method: values.method, headers, ...(values.data && { body: values.data }) })
}
