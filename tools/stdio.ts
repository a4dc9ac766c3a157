// `npm run -s stdio`: serves MCP on standard input and output, and forwards messages to a running host.
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LineSplitter } from '@mcp-host/process'
import { runCommand, UsageError } from './command-line.ts'
import { credential } from './host/credential.ts'
import { gatewayUrl } from './host/gateway-url.ts'
import { lifelineSignal } from './lifeline.ts'
import { plain } from './plain.ts'
import { Bridge } from './stdio/bridge.ts'
import { HttpClient } from './stdio/http-client.ts'
import { mcpUrl } from './stdio/mcp-url.ts'

const usage = `Usage: npm run -s stdio [-- OPTIONS]

Connects an MCP client that starts its own servers to the servers of a running host. In the client's settings:

  "command": "node", "args": ["/path/to/mcp-host/tools/run.mjs", "stdio"]

  --mount PATH   the servers to offer: /mcp for all (default), or /mcp/servers/NAME for one
  --url URL      gateway to connect to; with a path, the URL of its MCP endpoint;
                 default: the host that runs on DATA_DIR, else PORT
  --token TOKEN  API key or access token; default: MCP_HOST_TOKEN
  --wait MS      how long messages wait for a host that does not answer; default 10000

Where clients must authenticate, the host that runs on DATA_DIR knows its own machine; others need --token.
`

const root = join(import.meta.dirname, '..')
/** The limit for a line, more than any gateway accepts. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
/** The time limit for the end, since clients kill a server two seconds after they close its input. */
const FINISH_MS = 1_000

interface Options {
  readonly url: () => URL
  readonly waitMs: number
  readonly headers: Readonly<Record<string, string>>
}

function parse(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', short: 'h' },
      mount: { type: 'string' },
      url: { type: 'string' },
      token: { type: 'string' },
      wait: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const waitMs = Number(values.wait ?? 10_000)
  if (!(waitMs >= 0)) throw new UsageError('--wait: must be a number of milliseconds')
  const { mount, url: gateway, token } = values
  if (mount?.startsWith('/') === false) throw new UsageError('--mount: must begin with /')
  // Resolved for each request, since a host may restart at another address.
  const url = (): URL => mcpUrl(gateway ?? gatewayUrl(process.env, root), mount)
  url()
  const headers = credential({ env: process.env, root, token, url: gateway })
  return { url, waitMs, headers }
}

async function run({ url, waitMs, headers }: Options): Promise<number> {
  const leave = new AbortController()
  const end = (): void => leave.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)
  lifelineSignal().addEventListener('abort', end)
  // The client has closed its end.
  process.stdout.on('error', end)

  using client = new HttpClient(url, headers)
  const bridge = new Bridge(
    { client, write, log: (text) => void process.stderr.write(plain(`mcp-host stdio: ${text}\n`)) },
    { waitMs, hint: `Start it with: npm start, in ${root}` },
  )
  const inFlight = new Set<Promise<void>>()
  try {
    for await (const line of lines(leave.signal)) {
      const forwarded = bridge.forward(line).finally(() => inFlight.delete(forwarded))
      inFlight.add(forwarded)
    }
    // Messages of a pipe that has ended, such as that of `echo`, are still answered.
    const limit = delay(FINISH_MS, undefined, { signal: leave.signal })
    await Promise.race([Promise.all(inFlight), limit])
  } catch (error) {
    if (!leave.signal.aborted) throw error
  } finally {
    await bridge.close()
  }
  return 0
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

await runCommand({ usage, parse, run })
