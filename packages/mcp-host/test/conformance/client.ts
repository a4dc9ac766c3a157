// Started by the conformance suite with the URL of its server: a host that does what the scenario is about.
import { MCPHost, type ServerSnapshot, type Tool } from '../../src/index.ts'

const url = process.argv.at(-1) ?? ''
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: object }[]
}

const host = new MCPHost({ env: process.env, startRetries: 0 })

// The defaults of a form are the host's to fill in. Nothing else is asked for, but it may be.
host.registerCallback(() => {
  const content = scenario === 'sep-2322-client-request-state' ? { confirmed: true } : {}
  return { action: 'accept', content }
})

async function useAll({ tools, resources, prompts }: ServerSnapshot): Promise<void> {
  for (const tool of tools) await call(tool.name, someArguments(tool))
  for (const { uri } of resources) await host.getResource({ server: 'it', uri })
  for (const { name: prompt } of prompts) await host.getPrompt({ server: 'it', prompt })
}

async function call(tool: string, args: object): Promise<void> {
  await host.callTool({ server: 'it', tool }, { ...args })
}

/** Just what is required. */
function someArguments({ inputSchema }: Tool): object {
  const { required = [], properties = {} } = inputSchema as {
    readonly required?: readonly string[]
    readonly properties?: Readonly<Record<string, { readonly type?: string }>>
  }
  return Object.fromEntries(
    required.map((name) => [name, properties[name]?.type === 'string' ? 'some' : 2]),
  )
}

/** What is null does not fit the tool's schema; it may as well be left out. */
function withoutNull(args: object): object {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null))
}

async function play(server: ServerSnapshot): Promise<void> {
  if (context.toolCalls !== undefined) {
    for (const { name, arguments: args } of context.toolCalls) await call(name, withoutNull(args))
    return
  }
  switch (scenario) {
    // Its server has nothing but the list.
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
// It must end by itself: whatever the host leaves open keeps the suite waiting until it fails.
await host.shutdown()
