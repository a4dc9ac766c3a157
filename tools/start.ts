// `npm start`: the whole host on this machine.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { RESERVED_SERVER_NAMES } from '@mcp-host/contracts'
import { supervisorSettings } from '@mcp-host/mcp-supervisor/config'
import { authMethods, collectWhenQuiet, ConfigError, loadConfig } from '@mcp-host/service'
import { ConfigurationError, describeFault, loadMcpConfig } from '@mcp-host/mcp-json'
import { openSandbox } from '@mcp-host/upstream'
import { DataDirInUse, lockDataDir } from './host/data-lock.ts'
import { freeBytes, LEAST_FREE_BYTES, megabytes } from './host/disk-space.ts'
import type { McpJsonSettings } from './host/mcp-json-settings.ts'
import { mcpJsonSettings } from './host/mcp-json-settings.ts'
import { readRunFile } from './host/run-file.ts'
import { runHost } from './host/run-host.ts'
import type { Env } from './host/read-env.ts'
import { readEnv } from './host/read-env.ts'
import { incompleteProviders, settingProblems } from './host/settings.ts'
import { sandboxProblems } from './host/sandbox-paths.ts'
import { withStartDefaults } from './host/start-defaults.ts'
import { unknownSettings } from './host/unknown-settings.ts'
import { aborted as whenAborted } from '@mcp-host/async'
import { decodeText } from '@mcp-host/json'
import { lifelineSignal } from './lifeline.ts'
import { plain } from './plain.ts'
import { dist, root } from './root.ts'
import { firstAdminLink } from './start/first-admin.ts'
import { followSources, linkWeb } from './start/follow-sources.ts'
import { followStatus } from './start/follow-status.ts'
import { provideWeb } from './start/provide-web.ts'
import { unreachableBroker } from './start/reach-broker.ts'
import { startUsage } from './start/usage.ts'
import { webFolder } from './web/build-web.ts'

/** An error that the user has to fix. It is shown without a stack. */
class StartError extends Error {
  override readonly name = 'StartError'
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
  }
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(startUsage())
    return 0
  }
  const startedAt = performance.now()
  const stop = stopSignal()
  try {
    const isDev = args[0] === '--watch'
    const unknown = args[isDev ? 1 : 0]
    if (unknown !== undefined)
      throw new StartError(
        `unknown argument ${unknown}: settings are environment variables, as in PORT=3001 npm start. npm start -- --help lists them.`,
        2,
      )
    const { env, configured } = await checkSettings()
    const dataDir = resolve(root, env['DATA_DIR'] || '.data')
    const host = env['HOST'] || '127.0.0.1'
    await checkDisk(dataDir)
    await using _lock = await lockOrExplain(dataDir)
    await checkPort(host, Number(env['PORT'] || 3000))

    say('mcp-host', 'starting')
    if (env['NATS_URL']) void warnUnreachable(env['NATS_URL'])
    const web = env['WEB_FOLDER'] || (isDev ? join(dataDir, 'web') : webFolder())
    const provide = isDev ? linkWeb : provideWeb
    const built = env['WEB_FOLDER'] ? undefined : buildOrExplain(provide(web, stop), stop)
    await using running = await runHost({
      env: { ...env, WEB_FOLDER: web },
      dataDir,
      natsServerBin: process.env['NATS_SERVER_BIN'],
      dist,
      say,
      signal: stop,
    })
    using _sources = isDev ? followSources(dataDir, web, say) : undefined
    await using status = await followStatus({ broker: running.broker, configured, say })
    using _garbage = collectWhenQuiet()
    await Promise.race([Promise.all([status.complete, built]), aborted(stop)])
    if (!stop.aborted) {
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
      await saySandbox(env)
      say('ready', `${running.url}   (after ${seconds} s)`)
      const { link, note } = await firstAdminLink(running.broker, env, running.url)
      if (note !== undefined) say('accounts', note)
      if (link !== undefined) say('first admin', `${link}   (works once, for a day)`)
      const message = configured.includes('filesystem')
        ? `list the directory ${join(root, 'examples', 'files')}`
        : 'What can you do?'
      process.stdout.write(
        `\nOpen ${running.url} in a browser, or in another terminal: npm run chat -- "${message}"\nYour own tool: copy examples/weather, see docs/guides/your-own-tool.md\nCtrl-C stops everything.\n`,
      )
    }
    await aborted(stop)
    process.stdout.write('\n')
    say('mcp-host', 'stopping')
  } catch (error) {
    if (stop.aborted) return 0
    process.stderr.write(plain(`${error instanceof Error ? error.message : String(error)}\n`))
    return error instanceof StartError ? error.exitCode : 1
  }
  say('mcp-host', 'stopped')
  return 0
}

function say(about: string, what: string): void {
  process.stdout.write(plain(`${about.padEnd(19)} ${what}\n`))
}

/** Says how MCP servers are separated from the host, and what a program can read where they are not. */
async function saySandbox(env: Env): Promise<void> {
  const { sandbox, sandboxHomes: homes } = supervisorSettings
  const config = loadConfig({ sandbox, homes }, env)
  const { kind, lack } = await openSandbox({ kind: config.sandbox, env, homes: config.homes })
  const isOpen = loadConfig({ auth: authMethods }, env).auth.includes('none')
  const open = isOpen ? '; with AUTH=none they reach it at its port' : ''
  if (kind !== 'none' && lack !== undefined) say('warning', `MCP servers do not start: ${lack}`)
  else if (kind !== 'none')
    say('sandbox', `MCP servers run in ${kind}, without the files and processes of the host${open}`)
  else {
    const why = lack === undefined ? '' : ` (${lack})`
    say(
      'warning',
      `programs of MCP servers can read what your user can read, keys of this host too${why}`,
    )
  }
}

interface CheckedSettings {
  /** The environment, completed with the settings of `mcp.json`. */
  readonly env: Env
  /** Names of the MCP servers. */
  readonly configured: readonly string[]
}

/** Warns about settings without effect. Throws `StartError` with all faults of the settings. */
async function checkSettings(): Promise<CheckedSettings> {
  const given = readGiven()
  const mcpJson = resolve(root, given['MCP_JSON_PATH'] || 'mcp.json')
  const problems: string[] = []
  const warn = (warning: string): void => say('warning', warning)
  let configured: readonly string[] = []
  /** Faults of single servers, without which the host starts. */
  let faultyServers: readonly string[] = []
  let added: McpJsonSettings = { settings: {}, warnings: [] }
  try {
    const { servers, faulty } = await loadMcpConfig(mcpJson, given, {
      reservedNames: RESERVED_SERVER_NAMES,
      onWarning: (warning) => warn(describeFault(warning)),
    })
    configured = Object.keys({ ...servers, ...faulty })
    faultyServers = Object.values(faulty ?? {})
      .flat()
      .map(describeFault)
    added = mcpJsonSettings(mcpJson, given)
  } catch (error) {
    if (error instanceof ConfigurationError) problems.push(error.message)
    else if (error instanceof ConfigError) problems.push(...error.problems)
    else throw error
  }
  const env = withStartDefaults({ ...given, ...added.settings, MCP_JSON_PATH: mcpJson })
  const dataDir = resolve(root, env['DATA_DIR'] || '.data')
  problems.unshift(...settingProblems(env), ...sandboxProblems(env, root, dataDir))
  const texts = [mcpJson, resolve(root, env['LLM_CONFIG'] || 'llm.json')].map(readText)
  const warnings = [...added.warnings, ...unknownSettings(env, texts), ...incompleteProviders(env)]
  for (const warning of warnings) warn(warning)
  if (problems.length === 0) return { env, configured }
  throw faultySettings([...problems, ...faultyServers])
}

function readGiven(): Env {
  try {
    return readEnv(process.env, root)
  } catch (error) {
    throw error instanceof ConfigError ? faultySettings(error.problems) : error
  }
}

function faultySettings(problems: readonly string[]): StartError {
  const list = problems.map((problem) => `  ${problem.replaceAll('\n', '\n  ')}`).join('\n')
  return new StartError(`Faulty settings:\n${list}\nSee docs/reference/config.md.`, 2)
}

/** The names of the servers; empty when there is no file. */
function readText(file: string): string {
  return existsSync(file) ? decodeText(readFileSync(file), { fatal: false }) : ''
}

/** Builds the web UI while the services start. Without it browsers get a page with the state of the host. */
async function buildOrExplain(build: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await build
  } catch (error) {
    if (signal.aborted) return
    const why = error instanceof Error ? error.message : String(error)
    say('warning', `the web UI could not be built, so browsers get a plain page: ${why}`)
  }
}

/** Warns when the broker cannot be reached. The services wait for it, since it may start after them. */
async function warnUnreachable(natsUrl: string): Promise<void> {
  const fault = await unreachableBroker(natsUrl)
  if (fault !== undefined) say('nats-server', `${fault}; waiting for it. Is NATS_URL right?`)
}

async function checkDisk(dataDir: string): Promise<void> {
  const free = await freeBytes(dataDir)
  if (free >= LEAST_FREE_BYTES) return
  const message = `The disk at ${dataDir} is full: ${megabytes(free)} free, at least ${megabytes(LEAST_FREE_BYTES)} are needed to start.\nMake room, or set DATA_DIR to a folder on another disk.`
  throw new StartError(message, 1)
}

async function lockOrExplain(dataDir: string): Promise<AsyncDisposable> {
  try {
    return await lockDataDir(dataDir)
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) {
      const message = `DATA_DIR=${dataDir} cannot be written: ${error.message}.\nSet DATA_DIR to a folder that this user may write.`
      throw new StartError(message, 1)
    }
    if (!(error instanceof DataDirInUse)) throw error
    const url = readRunFile(dataDir)?.url
    const where = url === undefined || url === '' ? '' : ` at ${url}`
    const message = `mcp-host is already running on ${dataDir}${where} (process ${error.pid}).\nStop it, or set DATA_DIR and PORT to start another one.`
    throw new StartError(message, 1)
  }
}

async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer()
  const { promise, resolve: onFree, reject } = Promise.withResolvers<void>()
  server.once('error', (error) =>
    reject(
      new StartError(
        `Port ${port} on ${host} cannot be used (${error.message}).\nStop what uses it, or set PORT to another one.`,
        1,
      ),
    ),
  )
  server.listen(port, host, () => onFree())
  await promise
  await new Promise((closed) => server.close(closed))
}

/** Aborts on the first request to stop. A second one ends the process at once, unless it is an echo of the first. */
function stopSignal(): AbortSignal {
  const ECHO_MS = 300
  const stop = new AbortController()
  let firstAt = 0
  const onStop = (): void => {
    if (!stop.signal.aborted) {
      firstAt = Date.now()
      stop.abort()
    } else if (Date.now() - firstAt > ECHO_MS) process.exit(130)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onStop)
  // The reader of the output may end, as with `npm start | head`. The host then stops, and failed writes are ignored.
  process.stdout.on('error', () => {
    if (!stop.signal.aborted) onStop()
  })
  process.stderr.on('error', () => undefined)
  lifelineSignal().addEventListener('abort', onStop)
  return stop.signal
}

async function aborted(signal: AbortSignal): Promise<void> {
  // The timer keeps this process alive, since the services are other processes.
  const hold = setInterval(() => undefined, 2 ** 30)
  await whenAborted(signal)
  clearInterval(hold)
}

process.exitCode = await main(process.argv.slice(2))
