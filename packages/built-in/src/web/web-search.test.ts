import type { IncomingMessage } from 'node:http'
import type { WebSearchConfig } from '@mcp-host/upstream'
import { text as textOfBody } from 'node:stream/consumers'
import { textOf } from '@mcp-host/mcp-testkit'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'

import { openSite, openWeb } from './__fixtures__/open-web.ts'
import { createWebServer } from './index.ts'

const KEY = 'canary-key-9f8e7d'

interface Asked {
  readonly request: IncomingMessage
  readonly body: string
}

interface Answer {
  readonly status?: number
  readonly body: string
}

/** Searches at a local server that answers as a provider does. */
async function searchAt(
  options: Omit<WebSearchConfig, 'url'>,
  answer: () => Answer,
  args: object = {},
): Promise<{ result: CallToolResult; asked: Asked[] }> {
  const asked: Asked[] = []
  const { origin } = await openSite((request, response) => {
    void textOfBody(request).then((sent) => {
      asked.push({ request, body: sent })
      const { status = 200, body } = answer()
      response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    })
  })
  const client = await openWeb({ search: { ...options, url: `${origin}/base` } })
  const call = { name: 'web_search', arguments: { query: 'tides & sea', ...args } }
  return { result: await client.callTool(call), asked }
}

const pages = (snippet: string): object[] =>
  [1, 2, 3].map((number) => ({
    title: `Title ${number}`,
    url: `https://example.com/${number}`,
    [snippet]: `About ${number}`,
    more: 1,
  }))

const RESULTS = [1, 2, 3].map((number) => ({
  title: `Title ${number}`,
  url: `https://example.com/${number}`,
  snippet: `About ${number}`,
}))

describe('the providers', () => {
  test('Brave is asked by its parameters and its header', async () => {
    const body = JSON.stringify({ type: 'search', web: { results: pages('description') } })
    const { result, asked } = await searchAt({ provider: 'brave', key: KEY }, () => ({ body }))
    expect(result.structuredContent).toEqual({ results: RESULTS })
    expect(textOf(result)).toContain('Title 1\nhttps://example.com/1\nAbout 1\n\nTitle 2')
    const url = '/base/web/search?q=tides+%26+sea&count=5&text_decorations=false'
    expect(asked[0]?.request).toMatchObject({
      method: 'GET',
      url,
      headers: { 'x-subscription-token': KEY },
    })
  })

  test('Brave leaves out its list when it found nothing', async () => {
    const { result } = await searchAt({ provider: 'brave', key: KEY }, () => ({ body: '{}' }))
    expect(result.structuredContent).toEqual({ results: [] })
    expect(textOf(result)).toBe('no results')
  })

  test('Tavily is asked by a body and a bearer token', async () => {
    const body = JSON.stringify({ query: 'x', results: pages('content'), response_time: 1 })
    const options = { provider: 'tavily', key: KEY } as const
    const { result, asked } = await searchAt(options, () => ({ body }), { count: 20 })
    expect(result.structuredContent).toEqual({ results: RESULTS })
    expect(asked[0]?.request).toMatchObject({
      method: 'POST',
      url: '/base/search',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    })
    expect(JSON.parse(asked[0]!.body)).toEqual({ query: 'tides & sea', max_results: 20 })
  })

  test('SearXNG is asked for JSON, and only so many results are taken', async () => {
    const results = [
      ...pages('content'),
      { title: 'No text', url: 'https://a.example/', content: null },
    ]
    const body = JSON.stringify({ query: 'x', results })
    const { result, asked } = await searchAt({ provider: 'searxng' }, () => ({ body }), {
      count: 2,
    })
    expect(result.structuredContent).toEqual({ results: RESULTS.slice(0, 2) })
    expect(asked[0]?.request.url).toBe('/base/search?q=tides+%26+sea&format=json')
  })
})

describe('errors of a provider', () => {
  test.each([
    [
      'brave',
      422,
      '{"type":"ErrorResponse","error":{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The token is invalid","status":422}}',
      'brave: it answered with the status 422: The token is invalid',
    ],
    [
      'tavily',
      401,
      '{"detail":{"error":"Unauthorized: missing or invalid API key."}}',
      'tavily: it answered with the status 401: Unauthorized: missing or invalid API key.',
    ],
    ['tavily', 429, '{"detail":"Too many requests"}', 'status 429: Too many requests'],
    ['searxng', 403, '<html>Forbidden', 'status 403: its settings.yml must list json'],
    ['brave', 502, '<html>Bad gateway', 'status 502: it gave no reason'],
    ['tavily', 200, '{"surprise":1}', 'status 200: it gave no reason'],
    ['tavily', 200, '[1]', 'status 200: it gave no reason'],
  ] as const)('%s: the status %i is told in its words', async (provider, status, body, message) => {
    const { result } = await searchAt({ provider, key: KEY }, () => ({ status, body }))
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain(message)
  })

  test('a long reason is cut', async () => {
    const body = JSON.stringify({ detail: 'x'.repeat(10_000) })
    const options = { provider: 'tavily', key: KEY } as const
    const { result } = await searchAt(options, () => ({ status: 400, body }))
    expect(textOf(result).length).toBeLessThan(400)
  })
})

describe('the key', () => {
  test.each(['brave', 'tavily', 'searxng'] as const)(
    'the key of %s is in no result and no error, even when a provider repeats it',
    async (provider) => {
      const repeated = (): Answer => {
        const page = {
          title: KEY,
          url: `https://e.example/?k=${KEY}`,
          content: KEY,
          description: KEY,
        }
        return { body: JSON.stringify({ results: [page], web: { results: [page] } }) }
      }
      const { result } = await searchAt({ provider, key: KEY }, repeated)
      expect(result.structuredContent).toHaveProperty('results.0.title', '[key]')
      expect(JSON.stringify(result)).not.toContain(KEY)
      const body = JSON.stringify({ detail: `bad ${KEY}`, error: { detail: `bad ${KEY}` } })
      const failed = await searchAt({ provider, key: KEY }, () => ({ status: 401, body }))
      expect(failed.result.isError).toBe(true)
      expect(JSON.stringify(failed.result)).not.toContain(KEY)
    },
  )

  test.each(['', ' ', `${KEY}\n`, `${KEY} x`])('the key %j is refused at once', (key) => {
    const create = (): unknown => createWebServer({ search: { provider: 'brave', key } }, '1.0.0')
    expect(create).toThrow('the search by brave needs a key')
    expect(create).not.toThrow(KEY)
  })
})

test('SearXNG needs its address', () => {
  const create = (): unknown => createWebServer({ search: { provider: 'searxng' } }, '1.0.0')
  expect(create).toThrow('the search by searxng needs a url')
})

test.each([{ count: 0 }, { count: 21 }, { query: '' }, { query: 'x'.repeat(401) }])(
  'the arguments %j are refused',
  async (args) => {
    const { result, asked } = await searchAt({ provider: 'searxng' }, () => ({ body: '{}' }), args)
    expect(result.isError).toBe(true)
    expect(asked).toEqual([])
  },
)

test('without a provider there is no search', async () => {
  const { tools } = await (await openWeb({})).listTools()
  expect(tools.map(({ name }) => name)).toEqual(['web_fetch'])
})
