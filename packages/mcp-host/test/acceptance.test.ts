// Two servers from npm in one mcp.json: they start, list their tools and stop.
import { expect, test } from 'vitest'

import { MCPHost, type Tool } from '../src/index.ts'
import { programOf } from './peers/installed.ts'
import { isAlive, openWorkspace } from '@mcp-host/mcp-testkit'

const search = {
  query: 'string',
  country: 'string',
  search_lang: 'string',
  count: 'integer',
  safesearch: 'string',
  spellcheck: 'boolean',
}
const localized = { ...search, ui_lang: 'string', offset: 'integer' }
const web = {
  ...localized,
  freshness: 'string',
  text_decorations: 'boolean',
  result_filter: 'array',
  goggles: 'string | array',
  units: 'string',
  extra_snippets: 'boolean',
  summary: 'boolean',
}
const headers = { 'api-version': 'string', 'cache-control': 'string', 'user-agent': 'string' }

const expected: Record<string, Record<string, Record<string, string>>> = {
  brave: {
    brave_web_search: web,
    brave_local_search: web,
    brave_video_search: { ...localized, freshness: 'string' },
    brave_image_search: search,
    brave_news_search: {
      ...localized,
      freshness: 'string',
      extra_snippets: 'boolean',
      goggles: 'string | array',
    },
    brave_summarizer: { key: 'string', entity_info: 'boolean', inline_references: 'boolean' },
    brave_llm_context: {
      query: 'string',
      country: 'string',
      search_lang: 'string',
      count: 'integer',
      spellcheck: 'boolean',
      maximum_number_of_urls: 'integer',
      maximum_number_of_tokens: 'integer',
      maximum_number_of_snippets: 'integer',
      context_threshold_mode: 'string',
      maximum_number_of_tokens_per_url: 'integer',
      maximum_number_of_snippets_per_url: 'integer',
      goggles: 'string | array',
      freshness: 'string',
      enable_local: 'boolean',
      enable_source_metadata: 'boolean',
      'x-loc-lat': 'number',
      'x-loc-long': 'number',
      'x-loc-city': 'string',
      'x-loc-state': 'string',
      'x-loc-state-name': 'string',
      'x-loc-country': 'string',
      'x-loc-postal-code': 'string',
      accept: 'string',
      ...headers,
    },
    brave_place_search: {
      ...search,
      radius: 'number',
      latitude: 'number',
      longitude: 'number',
      location: 'string',
      ui_lang: 'string',
      units: 'string',
      geoloc: 'string',
      accept: 'string',
      ...headers,
    },
  },
  filesystem: {
    read_file: { path: 'string', tail: 'number', head: 'number' },
    read_text_file: { path: 'string', tail: 'number', head: 'number' },
    read_media_file: { path: 'string' },
    read_multiple_files: { paths: 'array' },
    write_file: { path: 'string', content: 'string' },
    edit_file: { path: 'string', edits: 'array', dryRun: 'boolean' },
    create_directory: { path: 'string' },
    list_directory: { path: 'string' },
    list_directory_with_sizes: { path: 'string', sortBy: 'string' },
    directory_tree: { path: 'string', excludePatterns: 'array' },
    move_file: { source: 'string', destination: 'string' },
    search_files: { path: 'string', pattern: 'string', excludePatterns: 'array' },
    get_file_info: { path: 'string' },
    list_allowed_directories: {},
  },
}

interface Schema {
  readonly type?: string
  readonly anyOf?: readonly Schema[]
}

function typeOf({ type, anyOf = [] }: Schema): string {
  return type ?? [...new Set(anyOf.map(typeOf))].join(' | ')
}

function parametersOf({ inputSchema }: Tool): Record<string, string> {
  const { properties = {} } = inputSchema as { properties?: Record<string, Schema> }
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, typeOf(schema)]),
  )
}

test('brave search and filesystem start, list their tools with parameter types, and stop', async () => {
  const workspace = await openWorkspace()
  const warnings: string[] = []
  const warn = (fields: object, message: string): void => {
    warnings.push(`${message} ${JSON.stringify(fields)}`)
  }
  const ignore = (): void => undefined
  const logger = { debug: ignore, info: ignore, warn, error: warn }
  const env = { PATH: process.env['PATH'], BRAVE_API_KEY: 'any' }
  const host = new MCPHost({ env, logger })

  const node = process.execPath
  const brave = [programOf('@brave/brave-search-mcp-server')]
  const filesystem = [programOf('@modelcontextprotocol/server-filesystem'), workspace.folder]
  const file = await workspace.write('mcp.json', {
    servers: {
      brave: { command: node, args: brave, env: { BRAVE_API_KEY: '${BRAVE_API_KEY}' } },
      filesystem: { command: node, args: filesystem },
    },
  })
  await host.initialize(file)
  const servers = host.getServers()
  const pids = servers.map(({ pid }) => pid)
  await host.shutdown()

  const listed = servers.map(({ name, tools }) => [
    name,
    Object.fromEntries(tools.map((tool) => [tool.name, parametersOf(tool)])),
  ])
  expect(Object.fromEntries(listed)).toEqual(expected)
  expect(servers.map(({ state }) => state)).toEqual(['ready', 'ready'])
  expect(host.getServers().map(({ state }) => state)).toEqual(['shutdown', 'shutdown'])
  expect(pids.filter((pid) => pid === undefined || isAlive(pid))).toEqual([])
  expect(warnings).toEqual([])
}, 30_000)
