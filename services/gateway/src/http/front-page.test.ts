import { createHash } from 'node:crypto'
import type { CatalogEntry, ServerName } from '@mcp-host/contracts'
import { LOCAL, NOBODY } from '@mcp-host/contracts'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { addFrontPage, FRONT_PAGE } from './front-page.ts'

const entries = new Map<string, CatalogEntry>([
  ['supervisor.s', { kind: 'supervisor', id: 's', startedAt: 0, servers: {} }],
  ['model.default', { kind: 'model', provider: 'demo', model: 'demo-1', notice: 'No key.' }],
  [
    'server.files.s',
    {
      kind: 'server',
      server: 'files' as ServerName,
      supervisor: 's',
      state: 'unavailable',
      error: 'it ended <script>alert(1)</script>',
      output: ['no TOKEN'],
      tools: [],
    },
  ],
])

async function get(
  accept: string,
  principal = LOCAL,
): Promise<{ headers: Record<string, unknown>; payload: string }> {
  await using app = fastify()
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => {
    request.principal = principal
  })
  addFrontPage(app, { entries, onChange: () => ({ [Symbol.dispose]: () => undefined }) })
  return await app.inject({ url: '/', headers: { accept, host: '127.0.0.1:3000' } })
}

test('a browser gets a page with the model, the servers and example requests', async () => {
  const { headers, payload } = await get('text/html,application/xhtml+xml,*/*;q=0.8')
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  for (const text of ['demo-1 (demo)', 'No key.', 'files', 'unavailable', 'no TOKEN']) {
    expect(payload).toContain(text)
  }
  expect(payload).toContain('http://127.0.0.1:3000/mcp')
  expect(payload).toContain('npm run chat')
})

test('a browser that has not authenticated learns of no server', async () => {
  const { payload } = await get('text/html', NOBODY)
  for (const text of ['demo-1', 'files', 'it ended', 'no TOKEN'])
    expect(payload).not.toContain(text)
})

test('the page runs no script, loads nothing, and escapes texts of servers', async () => {
  const { headers, payload } = await get('text/html')
  const [, style = ''] = /<style>(.*)<\/style>/s.exec(payload) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  expect(headers['content-security-policy']).toBe(
    `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  )
  expect(payload).not.toMatch(/<script|<link|<img|src=|href="(?!\/)/)
  expect(payload).toContain('it ended &lt;script&gt;alert(1)')
})

test('curl gets the routes as text', async () => {
  const { headers, payload } = await get('*/*')
  expect(headers['content-type']).toMatch('text/plain')
  expect(headers['vary']).toBe('Accept')
  expect(payload).toBe(FRONT_PAGE)
})
