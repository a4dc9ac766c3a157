import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Command } from './command.ts'

/** Major versions of the TypeScript SDK. */
export const SDKS = ['v1', 'v2'] as const
export type Sdk = (typeof SDKS)[number]

export type Endpoint = { readonly command: Command } | { readonly url: string }

const LIST_METHODS = {
  tools: 'listTools',
  prompts: 'listPrompts',
  resources: 'listResources',
  resourceTemplates: 'listResourceTemplates',
} as const
export type ListName = keyof typeof LIST_METHODS

/** A page of a list, as parsed by the SDK. */
export type Page = Readonly<Record<string, unknown>> & { readonly nextCursor?: string | undefined }

/** The calls of both SDKs, with the same signatures. */
export interface SdkClient extends AsyncDisposable {
  readonly instructions: string | undefined
  list(name: ListName, params: { readonly cursor: string } | undefined): Promise<Page>
  callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown>
  readResource(uri: string): Promise<unknown>
  getPrompt(name: string): Promise<unknown>
}

const INFO = { name: 'compat', version: '1.0.0' }
/** They show apps (MCP Apps): other clients are not told of tools for apps alone. */
const SHOWS_APPS = {
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
}
const LIMITS = { timeout: 20_000 }
/** On a small machine, servers that start concurrently take long. */
const CONNECT_LIMITS = { timeout: 45_000 }

export const connect: Readonly<Record<Sdk, (endpoint: Endpoint) => Promise<SdkClient>>> = {
  async v1(endpoint) {
    const client = new OldClient(INFO, { capabilities: SHOWS_APPS })
    const transport =
      'url' in endpoint
        ? new OldHttpTransport(new URL(endpoint.url))
        : new OldStdioTransport({ ...endpoint.command, stderr: 'ignore' })
    await client.connect(transport, CONNECT_LIMITS)
    return {
      instructions: client.getInstructions(),
      list: (name, params) => client[LIST_METHODS[name]](params, LIMITS),
      callTool: (name, args) => client.callTool({ name, arguments: args }, undefined, LIMITS),
      readResource: (uri) => client.readResource({ uri }, LIMITS),
      getPrompt: (name) => client.getPrompt({ name }, LIMITS),
      [Symbol.asyncDispose]: () => client.close(),
    }
  },

  async v2(endpoint) {
    const client = new Client(INFO, {
      capabilities: SHOWS_APPS,
      versionNegotiation: { mode: 'auto' },
    })
    const transport =
      'url' in endpoint
        ? new StreamableHTTPClientTransport(new URL(endpoint.url))
        : new StdioClientTransport({ ...endpoint.command, stderr: 'ignore' })
    await client.connect(transport, CONNECT_LIMITS)
    const capabilities = client.getServerCapabilities()
    return {
      instructions: client.getInstructions(),
      async list(name, params) {
        // Without the capability the SDK returns an empty list, and logs that to stdout.
        const capability = name === 'resourceTemplates' ? 'resources' : name
        if (name !== 'tools' && capabilities?.[capability] === undefined) return {}
        return client[LIST_METHODS[name]](params, LIMITS)
      },
      callTool: (name, args) => client.callTool({ name, arguments: args }, LIMITS),
      readResource: (uri) => client.readResource({ uri }, LIMITS),
      getPrompt: (name) => client.getPrompt({ name }, LIMITS),
      [Symbol.asyncDispose]: () => client.close(),
    }
  },
}
