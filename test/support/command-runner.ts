/**
 * A process that runs commands one after another, for tests on Node: each with arguments, variables, a folder and modules
 * of its own, until nothing keeps it alive, as in a process of its own. Node and the packages are loaded once.
 */
import type { EventEmitter } from 'node:events'
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

export interface Run {
  /** A script, or the bundle of a command, which is CommonJS. */
  readonly file: string
  readonly args: readonly string[]
  readonly variables: NodeJS.ProcessEnv
  readonly cwd: string
}

const require = createRequire(import.meta.url)
const SOURCES = pathToFileURL(join(import.meta.dirname, '..', '..')).href
/** undici's name of what sends the requests of `fetch`. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
/** Thrown by `process.exit`, so that the caller does not continue. */
const EXIT = new Error('process.exit')

const quit = process.exit
const globals = { fetch, FormData, Headers, Request, Response }
const { log, error, warn } = console
const umask = process.umask()
const OUTPUTS = [process.stdout, process.stderr]
const emitters: readonly EventEmitter[] = [process, ...OUTPUTS]
let runs = 0
let isRunning = false

/** Each run has the sources anew, with the state of their modules. */
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const isSource = resolved.url.startsWith(SOURCES) && resolved.url.endsWith('.ts')
    return isSource ? { ...resolved, url: `${resolved.url}?run=${runs}` } : resolved
  },
})
process.exit = (code) => {
  if (isRunning) void end(Number(code ?? process.exitCode ?? 0), true)
  throw EXIT
}
process.on('message', start)
// Without the caches that Node writes at the end: no other process has these addresses of modules.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.on('beforeExit', () => isRunning && void end(Number(process.exitCode ?? 0), false))
process.on('uncaughtException', (thrown) => {
  // A listener of the run would be the second one.
  if (thrown === EXIT || process.listenerCount('uncaughtException') > 1) return
  console.error(thrown)
  if (isRunning) void end(1, true)
})
for (const output of OUTPUTS) output.on('error', () => undefined)
/** Other listeners belong to a run. */
const listening = emitters.map((emitter) => new Set(emitter.eventNames().flatMap((name) => emitter.listeners(name))))

async function start({ file, args, variables, cwd }: Run): Promise<void> {
  runs++
  isRunning = true
  process.argv = [process.execPath, file, ...args]
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
  Object.assign(process.env, variables)
  process.chdir(cwd)
  // The run ends when nothing else keeps the process alive.
  process.channel?.unref()
  await setImmediate()
  if (!file.endsWith('.cjs')) return import(pathToFileURL(file).href)
  delete require.cache[file]
  require(file)
}

/** @param isEarly other work of the run may still go on, which ends with the process. */
async function end(code: number, isEarly: boolean): Promise<void> {
  isRunning = false
  for (const [index, emitter] of emitters.entries()) {
    for (const name of emitter.eventNames()) {
      for (const listener of emitter.listeners(name).filter((each) => !listening[index]?.has(each))) {
        if (name === 'exit') listener.call(process, code)
        emitter.off(name, listener as () => void)
      }
    }
  }
  Object.assign(console, { log, error, warn })
  Object.assign(globalThis, globals)
  process.umask(umask)
  process.exitCode = undefined
  const dispatcher = Reflect.get(globalThis, DISPATCHER)
  if (dispatcher !== undefined) {
    // The next run has connections of its own.
    await dispatcher.destroy()
    Reflect.set(globalThis, DISPATCHER, new dispatcher.constructor())
  }
  await setImmediate()
  const resources = process.getActiveResourcesInfo().filter((name) => name !== 'Immediate')
  if (isEarly && resources.length > OUTPUTS.length) quit(code)
  // A run that ends an output, as `pipeline` does, ends the process.
  for (const output of OUTPUTS) output.write(`\0${code}\0`, (error) => error && quit(code))
  process.channel?.ref()
}
