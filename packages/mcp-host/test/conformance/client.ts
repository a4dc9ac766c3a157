// A host that the conformance suite starts with the URL of its server, and that plays one scenario.
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  AuthConfig,
  CompleteLogin,
  OAuthAuthConfig,
  ServerSnapshot,
  Tool,
} from '../../src/index.ts'
import { MCPHost } from '../../src/index.ts'

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[]
  readonly client_id?: string
  readonly client_secret?: string
  readonly issuer?: string
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
}

const host = new MCPHost({ env: process.env, startRetries: 0 })

// The host fills in the defaults of a form. Only one scenario needs another value.
host.registerCallback(() => {
  const content = scenario === 'sep-2322-client-request-state' ? { confirmed: true } : {}
  return { action: 'accept', content }
})

async function useAll({ tools, resources, prompts }: ServerSnapshot): Promise<void> {
  for (const tool of tools) await call(tool.name, requiredArguments(tool))
  for (const { uri } of resources) await host.getResource({ server: 'it', uri })
  for (const { name: prompt } of prompts) await host.getPrompt({ server: 'it', prompt })
}

async function call(tool: string, args: object): Promise<void> {
  await host.callTool({ server: 'it', tool }, { ...args })
}

/** The required arguments alone. */
function requiredArguments({ inputSchema }: Tool): object {
  const { required = [], properties = {} } = inputSchema as {
    readonly required?: readonly string[]
    readonly properties?: Readonly<Record<string, { readonly type?: string }>>
  }
  return Object.fromEntries(
    required.map((name) => [name, properties[name]?.type === 'string' ? 'some' : 2]),
  )
}

/** The arguments without those that are null, which do not fit the schema of the tool. */
function withoutNull(args: object): object {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

async function authOf(name: string): Promise<AuthConfig> {
  const { client_id: clientId = '', client_secret: clientSecret } = context
  const isOfHost = name.startsWith('auth/client-credentials')
  if (!isOfHost && clientSecret === undefined) return loginOf(clientId)
  const issuer = context.issuer ?? (await issuerOf())
  if (!isOfHost) return { ...loginOf(clientId), clientSecret: clientSecret ?? '', issuer }
  const type = 'client-credentials'
  if (clientSecret !== undefined) return { type, issuer, clientId, clientSecret }
  const privateKeyFile = join(await mkdtemp(join(tmpdir(), 'conformance-')), 'key.pem')
  await writeFile(privateKeyFile, context.private_key_pem ?? '')
  return { type, issuer, clientId, privateKeyFile, algorithm: context.signing_algorithm ?? 'ES256' }
}

/** The authorization server that the server names. */
async function issuerOf(): Promise<string> {
  const about = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url))
  const { authorization_servers: named } = (await about.json()) as {
    readonly authorization_servers: readonly string[]
  }
  return named[0] ?? ''
}

/** A user who agrees to everything. */
function loginOf(clientId: string): OAuthAuthConfig {
  let kept: CompleteLogin | undefined
  return {
    type: 'oauth',
    redirectUrl: 'http://localhost:3000/callback',
    clientName: 'conformance',
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(clientId === '' ? {} : { clientId }),
    store: { load: async () => kept, save: async (login) => void (kept = login) },
    async login(page) {
      const { headers } = await fetch(page, { redirect: 'manual' })
      return new URL(headers.get('location') ?? '')
    },
  }
}

async function play(server: ServerSnapshot): Promise<void> {
  if (context.toolCalls !== undefined) {
    for (const { name, arguments: args } of context.toolCalls) await call(name, withoutNull(args))
    return
  }
  switch (scenario) {
    // The server of this scenario has only the listing.
    case 'json-schema-ref-no-deref':
      return
    case 'json-schema-2020-12-preservation': {
      const tool = server.tools.find(({ name }) => name === 'json_schema_2020_12_tool')
      await call('json_schema_echo', { schema: tool?.inputSchema })
      return
    }
    default:
      await useAll(server)
  }
}

const auth = scenario.startsWith('auth/') ? { auth: await authOf(scenario) } : {}
await host.initialize({ servers: { it: { type: 'http', url, headers: {}, ...auth } } })
const [server] = host.getServers()
if (server !== undefined) await play(server)
// The process must end by itself: a handle that the host leaves open makes the scenario time out.
await host.shutdown()
