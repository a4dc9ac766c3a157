// A host that the conformance suite starts with the URL of its server, and that plays one scenario.
import { MCPHost, type ServerSnapshot, type Tool } from '../../src/index.ts'

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[]
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

await host.initialize({ servers: { it: { type: 'http', url, headers: {} } } })
const [server] = host.getServers()
if (server !== undefined) await play(server)
// The process must end by itself: a handle that the host leaves open makes the scenario time out.
await host.shutdown()
