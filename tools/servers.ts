// `npm run servers`: the MCP servers of a running host, and commands to their supervisors.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Bus, BusLogger, CatalogView } from '@mcp-host/bus'
import { connectBus } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import { BusError, newEnvelope, supervisorControl } from '@mcp-host/contracts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'
import { findBroker } from './servers/find-broker.ts'
import { formatTable, serverRows } from './servers/server-table.ts'
import { watchTable } from './servers/watch-table.ts'

const USAGE = `Usage: npm run servers                    list the MCP servers of the running host
       npm run watch                      list them again whenever something changes; Ctrl-C leaves
       npm run servers -- restart NAME    start a server again, wherever it runs
       npm run servers -- reload          let the supervisors read mcp.json again

  --watch      as npm run watch
  --json       as JSON; with --watch one line for each change
  --nats URL   broker of the host; default: the one of the host that runs on DATA_DIR, else NATS_URL
`

/** Calls under way may end before a server is stopped. */
const COMMAND_LIMIT_MS = 90_000

/** Wrong use; shown with the usage. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

const silent: BusLogger = { info: () => {}, warn: () => {}, error: () => {} }
const print = (text: string): unknown => process.stdout.write(`${text}\n`)

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      watch: { type: 'boolean', short: 'w' },
      json: { type: 'boolean' },
      nats: { type: 'string' },
    },
  })
  if (values.help === true) {
    process.stdout.write(USAGE)
    return 0
  }
  const [command = 'list', name, ...rest] = positionals
  const isRestart = command === 'restart'
  if (!['list', 'restart', 'reload'].includes(command)) {
    throw new UsageError(`there is no command "${command}"`)
  }
  if (isRestart && name === undefined) throw new UsageError('which server is to be restarted?')
  if (rest.length > 0 || (!isRestart && name !== undefined)) {
    throw new UsageError(`too many words: ${positionals.join(' ')}`)
  }
  const root = join(import.meta.dirname, '..')
  const url = values.nats ?? findBroker(readEnv(process.env, root), root)
  await using bus = await connectBus({ url, name: 'servers', logger: silent })
  const catalog = await bus.catalog.watch()
  // Awaited here: the bus is closed when this returns.
  if (command === 'reload') return await reload(bus, catalog)
  if (isRestart) return await restart(bus, catalog, name ?? '')
  const isJson = values.json === true || npmTook('json')
  const show = (): string =>
    isJson
      ? JSON.stringify(serverRows(catalog.entries.values()))
      : formatTable(catalog.entries.values())
  if (values.watch !== true && !npmTook('watch')) {
    print(show())
    return 0
  }
  const isRedrawn = process.stdout.isTTY && !isJson
  await watchTable({
    bus,
    catalog,
    show,
    // From the top, and what is left of the last one cleared.
    print: (text) => void print(isRedrawn ? `\u001B[H\u001B[J${text}` : text),
    tell: (line) => void process.stderr.write(`${line}\n`),
    // Ctrl-C ends the process.
    signal: new AbortController().signal,
  })
  return 0
}

/** Whether npm took an option for one of its own, as in `npm run servers --watch` without `--` before it. */
function npmTook(option: string): boolean {
  const { npm_lifecycle_event: script, [`npm_config_${option}`]: value } = process.env
  return script === 'servers' && value === 'true'
}

async function restart(bus: Bus, catalog: CatalogView, name: string): Promise<number> {
  const rows = serverRows(catalog.entries.values())
  const names = new Set(rows.map((row) => row.name))
  if (!names.has(name)) {
    const known = names.size === 0 ? 'none is running' : `there are ${[...names].join(', ')}`
    throw new Error(`there is no MCP server "${name}"; ${known}`)
  }
  const supervisors = rows.filter((row) => row.name === name).map((row) => row.supervisor)
  // It is in the list, so it is a name.
  const action = { action: 'restart', server: name as ServerName } as const
  return each(supervisors, async (supervisor) => {
    await bus.call(supervisorControl, { supervisor }, action, options())
    return `${name} was started again`
  })
}

async function reload(bus: Bus, catalog: CatalogView): Promise<number> {
  const supervisors = Array.from(catalog.entries.values()).flatMap((entry) =>
    entry.kind === 'supervisor' ? [entry.id] : [],
  )
  if (supervisors.length === 0) throw new Error('no supervisor is running')
  return each(supervisors, async (supervisor) => {
    const reply = await bus.call(supervisorControl, { supervisor }, { action: 'reload' }, options())
    const changes = Object.entries(reply.reload ?? {})
      .filter(([, names]) => names.length > 0)
      .map(([how, names]) => `${how} ${names.join(', ')}`)
    return changes.length === 0 ? 'no servers' : changes.join('; ')
  })
}

function options() {
  return { envelope: newEnvelope('local'), timeoutMs: COMMAND_LIMIT_MS }
}

/** Does it at each supervisor and says how it went; 1 when it failed anywhere. */
async function each(
  supervisors: readonly string[],
  act: (supervisor: string) => Promise<string>,
): Promise<number> {
  const codes = await Promise.all(
    supervisors.map(async (supervisor) => {
      try {
        print(plain(`${supervisor}: ${await act(supervisor)}`))
        return 0
      } catch (error) {
        process.stderr.write(plain(`${supervisor}: ${BusError.from(error).message}\n`))
        return 1
      }
    }),
  )
  return Math.max(...codes)
}

stopWithLauncher()
try {
  process.exitCode = await main()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(plain(isUsage ? `${message}\n\n${USAGE}` : `${message}\n`))
  process.exitCode = isUsage ? 2 : 1
}
