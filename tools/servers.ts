// `npm run servers`: lists the MCP servers of a running host, and sends commands to their supervisors.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Bus, CatalogView } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import { BusError, newEnvelope, supervisorControl } from '@mcp-host/contracts'
import { CommandError, runCommand, UsageError } from './command-line.ts'
import type { CommandAudit } from './host/command-audit.ts'
import { openCommandAudit } from './host/command-audit.ts'
import { connectQuietly } from './host/connect-quietly.ts'
import { readEnv } from './host/read-env.ts'
import { stopWithLauncher } from './lifeline.ts'
import { plain } from './plain.ts'
import { findBroker } from './servers/find-broker.ts'
import { formatTable, serverRows } from './servers/server-table.ts'
import { watchTable } from './servers/watch-table.ts'

const usage = `Usage: npm run servers                    list the MCP servers of the running host
       npm run watch                      list them again after every change; Ctrl-C ends
       npm run servers -- restart NAME    restart a server at every supervisor that runs it
       npm run servers -- reload          make the supervisors read mcp.json again

  --watch      same as npm run watch
  --json       print JSON; with --watch, one line for each change
  --nats URL   broker of the host; default: the one of the host that runs on DATA_DIR, else NATS_URL
`

/** The time limit for a command, since calls in flight may end before a server is stopped. */
const COMMAND_LIMIT_MS = 90_000

interface Options {
  readonly command: 'list' | 'reload' | 'restart'
  /** The server to restart. */
  readonly name: string
  readonly isWatch: boolean
  readonly isJson: boolean
  readonly natsUrl: string | undefined
}

const print = (text: string): unknown => process.stdout.write(`${text}\n`)

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      watch: { type: 'boolean', short: 'w' },
      json: { type: 'boolean' },
      nats: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const [command = 'list', name, ...rest] = positionals
  const isRestart = command === 'restart'
  if (command !== 'list' && command !== 'reload' && !isRestart) {
    throw new UsageError(`there is no command "${command}"`)
  }
  if (isRestart && name === undefined) throw new UsageError('restart: NAME is missing')
  if (rest.length > 0 || (!isRestart && name !== undefined)) {
    throw new UsageError(`too many words: ${positionals.join(' ')}`)
  }
  return {
    command,
    name: name ?? '',
    isWatch: values.watch === true || npmTook('watch'),
    isJson: values.json === true || npmTook('json'),
    natsUrl: values.nats,
  }
}

/** Whether npm took an option itself, as in `npm run servers --watch` without `--` before it. */
function npmTook(option: string): boolean {
  const { npm_lifecycle_event: script, [`npm_config_${option}`]: value } = process.env
  return script === 'servers' && value === 'true'
}

async function run({ command, name, isWatch, isJson, natsUrl }: Options): Promise<number> {
  const root = join(import.meta.dirname, '..')
  const broker = findBroker(readEnv(process.env, root), root, natsUrl)
  await using bus = await connectQuietly(broker, 'servers')
  const catalog = await bus.catalog.watch()
  if (command !== 'list') {
    await using audit = await openCommandAudit(bus, 'npm run servers')
    const deps = { bus, catalog, audit }
    // Awaited here: the bus is closed when this function returns.
    return await (command === 'reload' ? reload(deps) : restart(deps, name))
  }
  const show = (): string =>
    isJson
      ? JSON.stringify(serverRows(catalog.entries.values()))
      : formatTable(catalog.entries.values())
  if (!isWatch) {
    print(show())
    return 0
  }
  const isRedrawn = process.stdout.isTTY && !isJson
  await watchTable({
    bus,
    catalog,
    show,
    // Moves the cursor to the top left, and clears the rest of the previous table.
    print: (text) => void print(isRedrawn ? `\u001B[H\u001B[J${text}` : text),
    warn: (line) => void process.stderr.write(`${line}\n`),
    // Ctrl-C ends the process.
    signal: new AbortController().signal,
  })
  return 0
}

interface Deps {
  readonly bus: Bus
  readonly catalog: CatalogView
  readonly audit: CommandAudit
}

async function restart({ bus, catalog, audit }: Deps, name: string): Promise<number> {
  const rows = serverRows(catalog.entries.values())
  const names = new Set(rows.map((row) => row.name))
  if (!names.has(name)) {
    const known = names.size === 0 ? 'none is running' : `there are ${[...names].join(', ')}`
    throw new CommandError(`there is no MCP server "${name}"; ${known}`)
  }
  const supervisors = rows.filter((row) => row.name === name).map((row) => row.supervisor)
  // A name in the list is valid.
  const action = { action: 'restart', server: name as ServerName } as const
  await audit.record('server-restarted', undefined, { server: name })
  return atEach(supervisors, async (supervisor) => {
    try {
      await bus.call(supervisorControl, { supervisor }, action, callOptions())
      return `${name} was restarted`
    } catch (error) {
      // A restart ends a pause everywhere, and then one supervisor may run the server for all.
      if (BusError.from(error).code !== 'not-found' || supervisors.length === 1) throw error
      return `${name} does not run here`
    }
  })
}

async function reload({ bus, catalog, audit }: Deps): Promise<number> {
  const supervisors = Array.from(catalog.entries.values()).flatMap((entry) =>
    entry.kind === 'supervisor' ? [entry.id] : [],
  )
  if (supervisors.length === 0) throw new CommandError('no supervisor is running')
  await audit.record('servers-reloaded')
  return atEach(supervisors, async (supervisor) => {
    const action = { action: 'reload' } as const
    const reply = await bus.call(supervisorControl, { supervisor }, action, callOptions())
    const changes = Object.entries(reply.reload ?? {})
      .filter(([, names]) => names.length > 0)
      .map(([how, names]) => `${how} ${names.join(', ')}`)
    return changes.length === 0 ? 'no servers' : changes.join('; ')
  })
}

function callOptions() {
  return { envelope: newEnvelope('local'), timeoutMs: COMMAND_LIMIT_MS }
}

/** Acts at each supervisor and prints the outcome of each. Resolves with 1 when one failed, else 0. */
async function atEach(
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
await runCommand({ usage, parse, run })
