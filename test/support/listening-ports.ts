/** The TCP ports of a process and its descendants, from Linux's /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const LISTENING = '0A'

/** The loopback addresses, in the byte order of x64 and arm64. */
const LOOPBACK: Readonly<Record<string, string>> = {
  '0100007F': '127.0.0.1',
  '00000000000000000000000001000000': '::1',
}

export interface ListeningPort {
  readonly port: number
  /** Those that are not of this machine alone are as /proc writes them. */
  readonly address: string
}

export function listeningPorts(pid: number): ListeningPort[] {
  const inodes = new Set(processTree(pid).flatMap(socketsOf))
  return ['tcp', 'tcp6'].flatMap((protocol) =>
    readFileSync(`/proc/net/${protocol}`, 'utf8')
      .split('\n')
      .slice(1, -1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode = '']) => state === LISTENING && inodes.has(inode))
      .map(([, local = '']) => local.split(':'))
      .map(([address = '', port = '']) => ({ address: LOOPBACK[address] ?? address, port: Number.parseInt(port, 16) })),
  )
}

function processTree(root: number): number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const)
  const found = [root]
  for (const each of found) found.push(...parents.flatMap(([pid, parent]) => (parent === each ? [pid] : [])))
  return found
}

function parentOf(pid: string): number | undefined {
  return ifRunning(() => Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]))
}

function socketsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  const files = ifRunning(() => readdirSync(folder)) ?? []
  const links = files.map((file) => ifRunning(() => readlinkSync(`${folder}/${file}`)) ?? '')
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
}

/** Undefined if the process, or its file, is gone. */
function ifRunning<Result>(read: () => Result): Result | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
