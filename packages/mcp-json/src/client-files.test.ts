import { join } from 'node:path'

import { expect, test } from 'vitest'

import type { ConfigFault } from './document/configuration-error.ts'
import type { ConfigInput } from './values/find-inputs.ts'
import { loadMcpConfig, type LoadOptions } from './load-mcp-config.ts'
import type { ServerConfig } from '@mcp-host/upstream'

const CLIENTS = join(import.meta.dirname, '../test/clients')
const variables = { HOME: '/home/ada', API_KEY: 'key', DB_CONNECTION_STRING: 'postgres://db' }

interface ParsedFile {
  readonly servers: Readonly<Record<string, ServerConfig>>
  /** The fields with warnings, with the message of each. */
  readonly warnings: readonly string[]
}

/** Reads a client's file; paths in the result are relative to the folder of its project. */
async function read(path: string, options: LoadOptions = {}): Promise<ParsedFile> {
  const faults: ConfigFault[] = []
  const { servers } = await loadMcpConfig(join(CLIENTS, path), variables, {
    ...options,
    onWarning: (warning) => faults.push(warning),
  })
  const folder = join(CLIENTS, path.split('/')[0] ?? '')
  const text = JSON.stringify(servers).replaceAll(folder, '/project')
  return {
    servers: JSON.parse(text) as ParsedFile['servers'],
    warnings: faults.map((each) => `${each.path}: ${each.message}`),
  }
}

const stdio = { type: 'stdio', args: [], env: {}, cwd: '/project' }
const http = { type: 'http', headers: {} }

test('a file of Claude Desktop is read, and its servers get valid and unique names', async () => {
  const { servers, warnings } = await read('claude-desktop/claude_desktop_config.json')
  const [plain, first = '', second = ''] = Object.keys(servers)
  expect(plain).toBe('filesystem')
  // Both are "GitHub-work" without their signs.
  for (const name of [first, second]) expect(name).toMatch(/^GitHub-work-[a-z0-9]{6}$/)
  expect(second).not.toBe(first)
  expect(servers[second]).toMatchObject({ ...stdio, command: 'npx', args: { 1: 'mcp-remote' } })
  const reason = 'because "GitHub-work" could mean another'
  expect(warnings).toEqual([
    'globalShortcut: is not a known field and is ignored',
    'preferences: is not a known field and is ignored',
    `mcpServers.GitHub (work): is not a valid server name: the server is called "${first}", ${reason}`,
    `mcpServers.GitHub work: is not a valid server name: the server is called "${second}", ${reason}`,
  ])
})

test('a file of Claude Code is read, with its variables and timeouts in milliseconds', async () => {
  const { servers, warnings } = await read('claude-code/.mcp.json')
  expect(servers).toMatchObject({
    sentry: { ...http, url: 'https://mcp.sentry.dev/mcp' },
    api: { url: 'https://api.example.com/mcp', headers: { Authorization: 'Bearer key' } },
    database: { type: 'stdio', command: 'uvx', timeoutMs: 600_000 },
  })
  expect(warnings).toEqual([
    'mcpServers.sentry.oauth: is not a known field and is ignored',
    'mcpServers.database.timeout: is 600000 seconds here, and is taken for milliseconds',
  ])
})

test('a file of Cursor is read, with its project as the folder of its servers', async () => {
  const { servers, warnings } = await read('cursor/.cursor/mcp.json')
  expect(servers).toMatchObject({
    'local-tools': {
      ...stdio,
      command: 'python',
      args: ['/project/tools/mcp_server.py'],
      env: { API_KEY: 'key', CACHE: '/home/ada/.cache', FROM_FILE: 'yes' },
    },
    remote: { ...http, url: 'https://mcp.example.com/sse' },
  })
  expect(warnings).toEqual([
    'mcpServers.local tools: is not a valid server name: the server is called "local-tools"',
    'mcpServers.remote.auth: has no "type" and is ignored',
  ])
})

test('a file of VS Code is read, and each referenced input is requested', async () => {
  const inputs: ConfigInput[] = []
  const askInput = (input: ConfigInput): string | undefined => {
    inputs.push(input)
    return input.password === true ? 'pplx' : undefined
  }
  const { servers, warnings } = await read('vscode/.vscode/mcp.json', { askInput })
  expect(inputs).toEqual([
    { id: 'region', description: 'Region', default: 'eu', options: ['eu', 'us'] },
    { id: 'perplexity-key', description: 'Perplexity API Key', password: true },
  ])
  expect(servers).toMatchObject({
    github: { ...http, url: 'https://api.githubcopilot.com/mcp/' },
    perplexity: {
      ...stdio,
      args: ['-y', 'server-perplexity-ask', '--region', 'eu'],
      env: { PERPLEXITY_API_KEY: 'pplx', PORT: '8080' },
    },
  })
  expect(servers['perplexity']).not.toHaveProperty('env.DEBUG')
  expect(warnings).toEqual([
    'servers.perplexity.sandboxEnabled: is not a known field and is ignored',
  ])
})

test('an input without an answer is a fault of its server, with a remedy', async () => {
  const { servers, faulty } = await loadMcpConfig(join(CLIENTS, 'vscode/.vscode/mcp.json'), {})
  expect(Object.keys(servers)).toEqual(['github'])
  expect(faulty).toEqual({
    perplexity: [
      expect.objectContaining({
        path: 'servers.perplexity.env.PERPLEXITY_API_KEY',
        message: 'has ${input:perplexity-key}, which is not a variable',
        remedy: expect.stringContaining('write ${env:NAME}'),
      }),
    ],
  })
})

test('a file of Gemini CLI is read, with its tool filters', async () => {
  const { servers, warnings } = await read('gemini/.gemini/settings.json')
  expect(servers).toEqual({
    pythonTools: {
      ...stdio,
      command: 'python',
      args: ['-m', 'my_mcp_server', '--port', '8080'],
      cwd: '/project/mcp-servers/python',
      env: { DATABASE_URL: 'postgres://db', API_KEY: 'key' },
      timeoutMs: 15_000,
      tools: { allow: ['safe_tool', 'file_reader'], deny: ['dangerous_tool'] },
      secrets: { DB_CONNECTION_STRING: 'postgres://db', API_KEY: 'key' },
    },
    httpServer: {
      ...http,
      url: 'https://example.com/mcp',
      headers: { Authorization: 'Bearer abc' },
    },
    sseServer: expect.objectContaining({ ...http, url: 'https://example.com/events' }),
  })
  expect(warnings).toEqual([
    'theme: is not a known field and is ignored',
    'selectedAuthType: is not a known field and is ignored',
    'mcp: is not a known field and is ignored',
    expect.stringMatching(/^mcpServers.pythonTools.env.DATABASE_URL: is taken for the variable/),
    'mcpServers.pythonTools.timeout: is 15000 seconds here, and is taken for milliseconds',
    'mcpServers.pythonTools.trust: is not a known field and is ignored',
  ])
})

test('a file of Windsurf is read, without the disabled server', async () => {
  const { servers, warnings } = await read('windsurf/mcp_config.json')
  expect(servers).toMatchObject({
    figma: { ...http, url: 'https://mcp.figma.com/mcp', tools: { deny: ['delete_file'] } },
  })
  expect(Object.keys(servers)).toEqual(['figma'])
  expect(warnings).toEqual([])
})

test('a file of Cline is read, with a server name of the MCP registry', async () => {
  const { servers, warnings } = await read('cline/cline_mcp_settings.json')
  expect(servers).toEqual({
    'io-github-example-weather': {
      ...http,
      url: 'https://weather.example.com/mcp',
      timeoutMs: 60_000,
    },
  })
  expect(warnings).toHaveLength(1)
})

test('a file of Copilot is read, with its tool filters', async () => {
  const { servers, warnings } = await read('copilot/mcp-config.json')
  expect(servers).toMatchObject({
    playwright: {
      ...stdio,
      command: 'npx',
      args: ['@playwright/mcp@latest'],
      tools: { allow: ['*'] },
    },
    docs: { ...http, tools: { allow: ['search'] } },
  })
  expect(warnings).toEqual([])
})

test.each([
  'claude-desktop/claude_desktop_config.json',
  'claude-code/.mcp.json',
  'cursor/.cursor/mcp.json',
  'vscode/.vscode/mcp.json',
  'gemini/.gemini/settings.json',
  'windsurf/mcp_config.json',
  'cline/cline_mcp_settings.json',
])('%s is refused under strict reading', async (path) => {
  await expect(read(path, { strict: true })).rejects.toMatchObject({ code: 'configuration' })
})
