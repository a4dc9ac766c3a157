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

export const LISTS = ['tools', 'prompts', 'resources', 'resourceTemplates'] as const
export type ListName = (typeof LISTS)[number]

/** A page of a list, as the SDK parsed it. */
export type Page = Readonly<Record<string, unknown>> & { readonly nextCursor?: string | undefined }

/** The calls of both SDKs under the same signatures. */
export interface SdkClient extends AsyncDisposable {
  readonly instructions: string | undefined
  list(name: ListName, cursor: string | undefined): Promise<Page>
  callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<unknown>
  readResource(uri: string): Promise<unknown>
  getPrompt(name: string): Promise<unknown>
}

const INFO = { name: 'compat', version: '1.0.0' }
const LIMITS = { timeout: 20_000 }
/** A server that starts beside others takes long on a small machine. */
const CONNECT_LIMITS = { timeout: 45_000 }

export const connect: Readonly<Record<Sdk, (endpoint: Endpoint) => Promise<SdkClient>>> = {
  async v1(endpoint) {
    const client = new OldClient(INFO)
    const transport =
      'url' in endpoint
        ? new OldHttpTransport(new URL(endpoint.url))
        : new OldStdioTransport({ ...endpoint.command, stderr: 'ignore' })
    await client.connect(transport, CONNECT_LIMITS)
    return {
      instructions: client.getInstructions(),
      list: (name, cursor) => {
        const params = cursor === undefined ? undefined : { cursor }
        if (name === 'tools') return client.listTools(params, LIMITS)
        if (name === 'prompts') return client.listPrompts(params, LIMITS)
        if (name === 'resources') return client.listResources(params, LIMITS)
        return client.listResourceTemplates(params, LIMITS)
      },
      callTool: (name, args) => client.callTool({ name, arguments: args }, undefined, LIMITS),
      readResource: (uri) => client.readResource({ uri }, LIMITS),
      getPrompt: (name) => client.getPrompt({ name }, LIMITS),
      [Symbol.asyncDispose]: () => client.close(),
    }
  },

  async v2(endpoint) {
    const client = new Client(INFO, { versionNegotiation: { mode: 'auto' } })
    const transport =
      'url' in endpoint
        ? new StreamableHTTPClientTransport(new URL(endpoint.url))
        : new StdioClientTransport({ ...endpoint.command, stderr: 'ignore' })
    await client.connect(transport, CONNECT_LIMITS)
    const capabilities = client.getServerCapabilities()
    return {
      instructions: client.getInstructions(),
      list: async (name, cursor) => {
        const params = cursor === undefined ? undefined : { cursor }
        if (name === 'tools') return client.listTools(params, LIMITS)
        // Without the capability the SDK answers with an empty list, and writes that to stdout.
        if (name === 'prompts') {
          return capabilities?.prompts ? client.listPrompts(params, LIMITS) : {}
        }
        if (capabilities?.resources === undefined) return {}
        if (name === 'resources') return client.listResources(params, LIMITS)
        return client.listResourceTemplates(params, LIMITS)
      },
      callTool: (name, args) => client.callTool({ name, arguments: args }, LIMITS),
      readResource: (uri) => client.readResource({ uri }, LIMITS),
      getPrompt: (name) => client.getPrompt({ name }, LIMITS),
      [Symbol.asyncDispose]: () => client.close(),
    }
  },
}
