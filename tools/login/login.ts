// `npm run login`: logs a user in at an MCP server from a terminal, where no browser reaches the host.
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { HostApi } from '@mcp-host/client'
import { CommandError, runCommand, UsageError } from '../command-line.ts'
import { credential } from '../host/credential.ts'
import { gatewayUrl } from '../host/gateway-url.ts'
import { stopWithLauncher } from '../lifeline.ts'
import { authorizeDevice } from './authorize-device.ts'
import { plain } from '../plain.ts'

const usage = `Usage: npm run -s login -- SERVER    log in at an MCP server: shows an address and a code, for a browser
                                     on any device

  --account NAME   name of the login, where you have several; default: default
  --with-token     read a token or an API key of yours from stdin instead
  --url URL        address of the host; default: the one that runs on DATA_DIR
  --token KEY      your API key of the host; default: MCP_HOST_TOKEN, else the operator's key
`

interface Options {
  readonly server: string
  readonly account: string
  readonly hasToken: boolean
  readonly url: string | undefined
  readonly token: string | undefined
}

const print = (line: string): unknown => process.stdout.write(`${plain(line)}\n`)

function parse(args: string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      account: { type: 'string' },
      'with-token': { type: 'boolean' },
      url: { type: 'string' },
      token: { type: 'string' },
    },
  })
  if (values.help === true) return undefined
  const [server, ...rest] = positionals
  if (server === undefined) throw new UsageError('SERVER is missing')
  if (rest.length > 0) throw new UsageError(`too many words: ${positionals.join(' ')}`)
  const { account = 'default', url, token, 'with-token': hasToken = false } = values
  return { server, account, hasToken, url, token }
}

async function run({ server, account, hasToken, url, token }: Options): Promise<number> {
  const root = join(import.meta.dirname, '../..')
  const { env } = process
  const headers = (): Readonly<Record<string, string>> => credential({ env, root, token, url })
  const host = new HostApi({ url: url ?? gatewayUrl(env, root), headers })
  if (hasToken) {
    const given = (await text(process.stdin)).trim()
    if (given === '') throw new CommandError('there is no token on stdin')
    await host.bringConnection(server, account, { access_token: given })
  } else {
    const described = await host.describeConnection(server)
    const tokens = await authorizeDevice(described, ({ address, code, minutes }) => {
      print(`Open ${address} in a browser, and enter the code ${code} within ${minutes} minutes.`)
    })
    await host.bringConnection(server, account, tokens)
  }
  print(`You are logged in at ${server}.`)
  return 0
}

stopWithLauncher()
await runCommand({ usage, parse, run })
