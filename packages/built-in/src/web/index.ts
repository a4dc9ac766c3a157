import { type CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

import { OperationGate } from '../operation-gate.ts'
import { openPages } from './fetch/open-page.ts'
import { webSearch } from './search/web-search.ts'
import { FetchArguments, FetchedPage, fetchPage } from './web-fetch.ts'
import { DEFAULT_LIMITS, type WebOptions } from './web-options.ts'

const MAX_QUERY_LENGTH = 400
/** The limit for the requests that wait; more are refused. */
const MAX_WAITING = 64
const MAX_RESULTS = 20
const DEFAULT_RESULTS = 5

const SearchArguments = z.object({
  query: z.string().min(1).max(MAX_QUERY_LENGTH),
  count: z
    .int()
    .min(1)
    .max(MAX_RESULTS)
    .default(DEFAULT_RESULTS)
    .describe('Most results to return'),
})

const SearchResults = z.object({
  results: z.array(z.object({ title: z.string(), url: z.string(), snippet: z.string() })),
})

/** A host may repeat a call, and a model must not trust what strangers have written. */
const ANNOTATIONS = { readOnlyHint: true, openWorldHint: true }

/** An MCP server that reads web pages, and searches the web where a provider is set. */
export function createWebServer(
  { allowedOrigins = [], search, proxyFor = () => undefined, limits: changed }: WebOptions,
  version: string,
): McpServer {
  const limits = { ...DEFAULT_LIMITS, ...changed }
  const openPage = openPages({ allowedOrigins, proxyFor, limits })
  const fetches = new OperationGate(limits.maxFetches, MAX_WAITING)
  const conversions = new OperationGate(limits.maxConversions, MAX_WAITING)
  const server = new McpServer({ name: 'web', version })

  server.registerTool(
    'web_fetch',
    {
      title: 'Fetch a web page',
      description:
        'Reads a web page, or a text or JSON file, as Markdown. A long one comes in parts: repeat the call with nextOffset as offset.',
      inputSchema: FetchArguments,
      outputSchema: FetchedPage,
      annotations: ANNOTATIONS,
    },
    async (args, { mcpReq: { signal } }) => {
      const deps = { openPage, limits, conversions }
      const page = await fetches.run(signal, () => fetchPage(deps, args, signal))
      return resultOf(describePage(page), page)
    },
  )

  if (search === undefined) return server
  const find = webSearch(search, { proxyFor, limits })
  server.registerTool(
    'web_search',
    {
      title: 'Search the web',
      description: 'Searches the web. Read a result with web_fetch.',
      inputSchema: SearchArguments,
      outputSchema: SearchResults,
      annotations: ANNOTATIONS,
    },
    async (args, { mcpReq: { signal } }) => {
      const results = await fetches.run(signal, () => find(args, signal))
      const lines = results.map(({ title, url, snippet }) => `${title}\n${url}\n${snippet}`.trim())
      return resultOf(lines.length === 0 ? 'no results' : lines.join('\n\n'), { results })
    },
  )
  return server
}

function resultOf(text: string, structuredContent: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], structuredContent }
}

function describePage({
  title,
  url,
  contentType,
  text,
  length,
  nextOffset,
}: z.infer<typeof FetchedPage>): string {
  const head = [...(title === '' ? [] : [`Title: ${title}`]), `URL: ${url}`, `Type: ${contentType}`]
  const rest =
    nextOffset === undefined ? [] : ['', `(${length} characters; next part: offset ${nextOffset})`]
  return [...head, '', text, ...rest].join('\n')
}
