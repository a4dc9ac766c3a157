import * as z from 'zod'

import { remoteInstances, stdioInstances } from './instance-fields.ts'
import {
  address,
  explained,
  fields,
  filledText,
  headers,
  isFileUri,
  optional,
  positive,
  restartOrPolicy,
  SANDBOX_DESCRIPTION,
  SANDBOX_EXAMPLE,
  sandboxOrKind,
  seconds,
  settings,
  texts,
  variables,
} from './server-fields.ts'

const TYPES = 'must be "stdio", "http", "sse" or "websocket"'
const folder = filledText.refine((value) => !value.includes('://') || isFileUri(value), {
  error: 'must be a folder or a file:// URI',
})

const type = <const Names extends readonly string[]>(...names: Names) =>
  optional(
    z.enum(names, TYPES),
    'How the server is reached; without it, "command" means stdio and "url" means http, or sse where the server refuses http, or websocket for ws:// and wss://.',
    names[0],
  )
const transport = <const Names extends readonly string[]>(...names: Names) =>
  optional(
    z.enum(names, `must be ${names.map((name) => `"${name}"`).join(' or ')} here`),
    'How the server is reached, beside a "type" of "local" or "remote".',
    names[0],
  )

const foreign = z
  .unknown()
  .optional()
  .meta({ description: 'For other programs; has no meaning here.' })
/** Fields that other programs write into the file. Variables in them are not expanded. */
export const foreignFields = {
  description: foreign,
  autoApprove: foreign,
  alwaysAllow: foreign,
  dev: foreign,
  gallery: foreign,
  version: foreign,
}

const commonFields = {
  id: optional(
    z.string('must be a string'),
    'The name of the server; needed in a list, else the same as its key.',
    'web',
  ),
  disabled: optional(z.boolean('must be true or false'), 'Leaves the server out.', true),
  timeout: optional(seconds, 'Seconds that a call may be silent; progress starts them anew.', 30),
  ...settings,
  restart: optional(
    restartOrPolicy,
    'Whether the server is started again; more than "maxRestarts" within "windowMs" are a crash loop.',
    { policy: 'on-failure', maxRestarts: 5, windowMs: 60_000 },
  ),
  roots: optional(
    z.array(folder, 'must be a list'),
    'Folders that the server is told to work in: relative to this file, or file:// URIs.',
    ['./documents'],
  ),
  ...foreignFields,
}

const StdioEntry = z.strictObject({
  type: type('stdio', 'local'),
  transport: transport('stdio'),
  command: explained(
    filledText,
    'The program to start: a path relative to "cwd", or a name on the PATH.',
    'node',
  ),
  args: optional(texts, 'The arguments of the program.', ['server.js']),
  env: optional(
    variables,
    'Environment variables of the program, beside PATH, HOME, proxies and the like.',
    { PORT: '8080' },
  ),
  envFile: optional(
    filledText,
    'A file with more variables, one NAME=value in a line; those in "env" win.',
    '.env',
  ),
  cwd: optional(
    filledText,
    'The folder to run in, relative to this file; default: the folder of this file.',
    'servers/web',
  ),
  limits: optional(
    fields({ memoryMb: positive.exactOptional(), cpuPercent: positive.exactOptional() }),
    'Limits for the program with its descendants: megabytes (2^20 bytes) of memory, percent of one core. Enforced on Linux.',
    { memoryMb: 512, cpuPercent: 100 },
  ),
  sandbox: optional(sandboxOrKind, SANDBOX_DESCRIPTION, SANDBOX_EXAMPLE),
  instances: stdioInstances,
  ...commonFields,
})

const remoteFields = {
  headers: optional(headers, 'Sent with every HTTP request, and when a WebSocket is opened.', {
    Authorization: 'Bearer ${env:TOKEN}',
  }),
  ...commonFields,
}
const URL_DESCRIPTION = 'The address of the server, without a user name or password.'

const HttpEntry = z.strictObject({
  type: type('http', 'streamable-http', 'sse', 'remote'),
  transport: transport('http', 'streamable-http', 'sse'),
  url: explained(address(['http', 'https']), URL_DESCRIPTION, 'https://example.com/mcp'),
  instances: remoteInstances(['http', 'https']),
  ...remoteFields,
})

const WebSocketEntry = z.strictObject({
  type: type('websocket', 'ws', 'remote'),
  transport: transport('websocket', 'ws'),
  url: explained(address(['ws', 'wss']), URL_DESCRIPTION, 'wss://example.com/mcp'),
  instances: remoteInstances(['ws', 'wss']),
  ...remoteFields,
})

export type StdioEntry = z.infer<typeof StdioEntry>
export type RemoteEntry = z.infer<typeof HttpEntry> | z.infer<typeof WebSocketEntry>

/** The schemas of one server in a file, by type, after variables are expanded. */
export const entries = {
  stdio: StdioEntry.meta({ id: 'StdioServer' }),
  http: HttpEntry.meta({ id: 'HttpServer' }),
  sse: HttpEntry,
  websocket: WebSocketEntry.meta({ id: 'WebSocketServer' }),
}

const ServerEntry = z.union([entries.stdio, entries.http, entries.websocket])
const group = explained(
  z
    .union([
      z.record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), ServerEntry),
      z.array(ServerEntry.and(z.looseObject({ id: z.string() }))),
    ])
    .meta({ id: 'Servers' })
    .exactOptional(),
  'The servers by name, or a list of servers with an "id" each.',
  { web: { command: 'node', args: ['server.js'] } },
)

/** The schema of the whole file, from which its JSON Schema is generated. */
export const McpFile = z
  .strictObject({
    $schema: z.string().exactOptional(),
    servers: group,
    mcpServers: group,
    inputs: foreign,
    llm: explained(
      z.unknown().optional(),
      'The model that answers in `npm start`: type, api_key, model and system_prompt. Settings of the environment come first; a key belongs there.',
      { type: 'gemini', model: 'gemini-flash-latest' },
    ),
    max_tool_calls: explained(
      z.unknown().optional(),
      'How many tool calls one turn may make in `npm start`; the setting MAX_TOOL_CALLS comes first.',
      25,
    ),
    maxToolCalls: explained(z.unknown().optional(), 'As max_tool_calls.', 25),
  })
  .meta({
    title: 'MCP servers of mcp-host (mcp.json)',
    anyOf: [{ required: ['servers'] }, { required: ['mcpServers'] }],
    // Read by editors.
    allowComments: true,
    allowTrailingCommas: true,
  })
