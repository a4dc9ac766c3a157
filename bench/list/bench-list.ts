import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolScript } from '@mcp-host/testkit'
import { eventually, startStack, testFolder } from '@mcp-host/testkit'
import { HttpConnection } from '../http-connection.ts'
import { quantiles } from '../quantile.ts'

const SERVERS = 50
const TOOLS = 10
const LISTS = 300
const GOAL_MS = 10

/** A tool of the size that tools of real servers have. */
function tool(index: number): ToolScript {
  const field = (description: string): object => ({ type: 'string', description })
  return {
    name: `get_thing_${index}`,
    description: `Gets things of kind ${index} that match a query, newest first, with their owner, size and history; at most 100 at a time.`,
    inputSchema: {
      type: 'object',
      properties: {
        query: field('What to look for, in words or as a pattern with * and ?.'),
        owner: field('Only those of this owner; without it those of all.'),
        since: field('Only those changed since then, as a date in ISO 8601.'),
        limit: { type: 'integer', minimum: 1, maximum: 100, description: 'How many at most.' },
      },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  }
}

/**
 * Lists the tools of many servers, beside two that never become ready, and compares the size with that of a tool
 * search.
 */
export async function benchList(): Promise<object> {
  await using folder = await testFolder()
  const bundles = join(folder.path, 'bundles.json')
  await writeFile(bundles, JSON.stringify({ bundles: { searched: { toolSearch: true } } }))
  const names = Array.from({ length: SERVERS - 1 }, (_, index) => `server${index}`)
  await using stack = await startStack({
    tools: Array.from({ length: TOOLS }, (_, index) => tool(index)),
    servers: {
      ...Object.fromEntries(names.map((name) => [name, {}])),
      dead: { command: 'false', args: [] },
      silent: { command: 'sleep', args: ['600'] },
    },
    toolCount: SERVERS * TOOLS,
    env: { BUNDLES_CONFIG: bundles },
  })
  const connection = new HttpConnection(stack.url)
  const first = await list(connection, '/mcp')
  const times: number[] = []
  for (let index = 0; index < LISTS; index++) times.push((await list(connection, '/mcp')).ms)
  const searched = await list(connection, '/mcp/bundles/searched')
  const found = await eventually(() =>
    post(connection, '/mcp/bundles/searched', 'tools/call', {
      name: 'search_tools',
      arguments: { query: 'get things of kind 7' },
    }),
  )
  connection.close()
  const figures = {
    servers: SERVERS,
    tools: first.tools,
    firstMs: first.ms,
    listMs: quantiles(times, 'p50', 'p95'),
    goalMs: GOAL_MS,
    characters: { all: first.characters, searched: searched.characters, search: found.length },
  }
  if (figures.listMs.p50 > GOAL_MS || first.tools !== SERVERS * TOOLS) process.exitCode = 1
  return figures
}

interface List {
  readonly ms: number
  readonly tools: number
  readonly characters: number
}

/** Does not use `fetch`, which takes longer for an answer of this size than the host. */
async function list(connection: HttpConnection, path: string): Promise<List> {
  const begin = performance.now()
  const text = await post(connection, path, 'tools/list', {})
  const ms = performance.now() - begin
  const { result } = JSON.parse(text) as { result: { tools: readonly unknown[] } }
  return { ms, tools: result.tools.length, characters: JSON.stringify(result.tools).length }
}

async function post(
  connection: HttpConnection,
  path: string,
  method: string,
  params: object,
): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return (await connection.ask('POST', path, 'content-type: application/json\r\n', body)).body
}
