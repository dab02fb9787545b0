/** How `workspace login` gets a code: from the browser of this computer, or from the person who pastes it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

const LOOPBACK = '127.0.0.1'
const TIMEOUT_MS = 600_000

export interface Listener {
  readonly port: number
  /** Rejects if the person denies it or does nothing. */
  readonly code: Promise<string>
}

/** Waits for the one request by which the browser brings the code. @param state tells it from other requests. */
export async function listenForCode(state: string, timeoutMs = TIMEOUT_MS): Promise<Listener> {
  const server = createServer()
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let timer: NodeJS.Timeout
  const answered = new Promise<string>((resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error('Nobody allowed the login within ten minutes. Run `workspace login` again.'))
    }, timeoutMs)
    server.on('request', (request, response) => {
      const answer = answerIn(request, port)
      const [code, error] = [answer?.get('code'), answer?.get('error')]
      // Every page in a browser can send requests to a port of this computer.
      if (answer?.get('state') !== state || !(code || error)) return show(response, 404, 'This is not the answer.')
      show(response, 200, 'You can close this window, and continue in the terminal.')
      response.on('close', () => {
        if (code) resolve(code)
        else reject(new Error('The login was denied in the browser.'))
      })
    })
  })
  const code = answered.finally(() => {
    clearTimeout(timer)
    server.close()
    server.closeAllConnections()
  })
  return { port, code }
}

/** @returns undefined for another path or another host, such as that of a website whose name leads to this computer. */
function answerIn({ method, url = '', headers }: IncomingMessage, port: number): URLSearchParams | undefined {
  const origin = `http://${LOOPBACK}:${port}`
  if (method !== 'GET' || headers.host !== `${LOOPBACK}:${port}` || !URL.canParse(url, origin)) return undefined
  const { pathname, searchParams } = new URL(url, origin)
  return pathname === '/callback' ? searchParams : undefined
}

function show(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; img-src data:; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  })
  response.end(
    `<!doctype html><html lang="en"><title>Workspace</title><link rel="icon" href="data:,"><p>${text}</p></html>\n`,
  )
}

/** False over SSH and without a display: a browser would open elsewhere, or not at all. */
export function hasBrowser(): boolean {
  const { SSH_CONNECTION, SSH_TTY, DISPLAY, WAYLAND_DISPLAY } = process.env
  if (SSH_CONNECTION || SSH_TTY) return false
  return ['darwin', 'win32'].includes(process.platform) || Boolean(DISPLAY || WAYLAND_DISPLAY)
}

/** Without a shell, which would read the address as a command. */
export function openBrowser(address: string): void {
  const [command, ...args] = opener()
  const fail = () => console.error('The browser could not be opened. Open the address yourself.')
  const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true })
  child.on('error', fail).on('exit', (status) => status && fail())
  child.unref()
}

function opener(): [command: string, ...args: string[]] {
  if (process.platform === 'darwin') return ['/usr/bin/open']
  if (process.platform !== 'win32') return ['xdg-open']
  const system = join(process.env.SystemRoot ?? String.raw`C:\Windows`, 'System32')
  return [join(system, 'rundll32.exe'), 'url.dll,FileProtocolHandler']
}
