// `npm run -s stdio`: an MCP server on standard input and output that is a running host.
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LineSplitter } from 'mcp-host/process'
import { gatewayUrl } from './host/gateway-url.ts'
import { lifelineSignal } from './lifeline.ts'
import { plain } from './plain.ts'
import { Bridge } from './stdio/bridge.ts'
import { HttpClient } from './stdio/http-client.ts'
import { mcpUrl } from './stdio/mcp-url.ts'

const USAGE = `Usage: npm run -s stdio [-- OPTIONS]

Lets an MCP client that starts its servers itself use the servers of a running host. In the client's settings:

  "command": "node", "args": ["/path/to/mcp-host/tools/run.mjs", "stdio"]

  --mount PATH   what to offer: /mcp, all servers (default), or /mcp/servers/NAME, one
  --url URL      gateway to talk to, or with a path the place itself;
                 default: the host that runs on DATA_DIR, else PORT
  --wait MS      how long messages wait for a host that is not there; default 10000
`

const root = join(import.meta.dirname, '..')
/** More than any gateway takes. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
/** Clients that end their input wait two seconds before they use force. */
const FINISH_MS = 1_000

/** Wrong use; shown with the usage. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

interface Options {
  readonly url: () => URL
  readonly waitMs: number
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      mount: { type: 'string' },
      url: { type: 'string' },
      wait: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const waitMs = Number(values.wait ?? 10_000)
  if (!(waitMs >= 0)) throw new UsageError('--wait: must be a number of milliseconds')
  const { mount, url: gateway } = values
  if (mount?.startsWith('/') === false) throw new UsageError('--mount: must begin with /')
  // Asked again each time: a host may come back elsewhere.
  const url = (): URL => mcpUrl(gateway ?? gatewayUrl(process.env, root), mount)
  url()
  return { url, waitMs }
}

async function main(): Promise<void> {
  const options = readOptions()
  if (options === undefined) {
    process.stdout.write(USAGE)
    return
  }
  const { url, waitMs } = options
  const leave = new AbortController()
  const end = (): void => leave.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
  lifelineSignal().addEventListener('abort', end)
  // Nobody reads any more.
  process.stdout.on('error', end)

  using client = new HttpClient(url)
  const bridge = new Bridge(
    { client, write, log: (text) => void process.stderr.write(plain(`mcp-host stdio: ${text}\n`)) },
    { waitMs, hint: `Start it with: npm start, in ${root}` },
  )
  const passing = new Set<Promise<void>>()
  try {
    for await (const line of lines(leave.signal)) {
      const taken = bridge.take(line).finally(() => passing.delete(taken))
      passing.add(taken)
    }
    // What came in by a pipe, as from `echo`, is answered.
    const limit = delay(FINISH_MS, undefined, { signal: leave.signal })
    await Promise.race([Promise.all(passing), limit])
  } catch (error) {
    if (!leave.signal.aborted) throw error
  } finally {
    await bridge.close()
  }
}

async function write(message: string): Promise<void> {
  if (!process.stdout.write(`${message}\n`)) await once(process.stdout, 'drain')
}

async function* lines(signal: AbortSignal): AsyncGenerator<Buffer> {
  const splitter = new LineSplitter({ maxLineBytes: MAX_LINE_BYTES, whenTooLong: 'cut' })
  const stop = (): void => void process.stdin.destroy()
  signal.addEventListener('abort', stop)
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    for (const line of splitter.push(chunk)) if (line.length > 0) yield line
  }
  const rest = splitter.rest()
  if (rest.length > 0) yield rest
}

try {
  await main()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error)
  process.stderr.write(plain(isUsage ? `${message}\n\n${USAGE}` : `${message}\n`))
  process.exitCode = isUsage ? 2 : 1
}
