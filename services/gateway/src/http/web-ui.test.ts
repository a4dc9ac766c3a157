import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { LOCAL } from '@mcp-host/contracts'
import { fastify } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addFrontPage, FRONT_PAGE } from './front-page.ts'
import { addWebUi } from './web-ui.ts'

const PAGE = '<!doctype html><title>the UI</title>'
const HTML = { accept: 'text/html,*/*;q=0.8' }

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'web-ui-test-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function gateway() {
  const app = fastify()
  app.decorateRequest('principal')
  app.addHook('onRequest', async (request) => {
    request.principal = LOCAL
  })
  const catalog = { entries: new Map(), onChange: () => ({ [Symbol.dispose]: () => undefined }) }
  addFrontPage(app, catalog, await addWebUi(app, join(folder, 'built')))
  return app
}

async function build(): Promise<void> {
  await mkdir(join(folder, 'built', 'assets'), { recursive: true })
  await writeFile(join(folder, 'built', 'index.html'), PAGE)
  const script = 'console.log(1)'
  await writeFile(join(folder, 'built', 'assets', 'index-1.js'), script)
  await writeFile(join(folder, 'built', 'assets', 'index-1.js.gz'), gzipSync(script))
  await writeFile(join(folder, 'secret.txt'), 'secret')
}

test('browsers get the plain page until the UI is built, and then the UI; curl gets text', async () => {
  await using app = await gateway()
  expect((await app.inject({ url: '/', headers: HTML })).payload).toContain('This host is running')
  await build()
  expect((await app.inject({ url: '/', headers: HTML })).payload).toBe(PAGE)
  expect((await app.inject({ url: '/', headers: { accept: '*/*' } })).payload).toBe(FRONT_PAGE)
})

test('the page may load and run only what this host serves, and is never stale', async () => {
  await build()
  await using app = await gateway()
  const { headers } = await app.inject({ url: '/', headers: HTML })
  const policy = String(headers['content-security-policy'])
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  expect(headers).toMatchObject({
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    vary: 'Accept, accept-encoding',
  })
})

test('assets are sent compressed, and kept for ever', async () => {
  await build()
  await using app = await gateway()
  const asked = { url: '/assets/index-1.js', headers: { 'accept-encoding': 'gzip' } }
  const { headers, rawPayload } = await app.inject(asked)
  expect(headers['content-encoding']).toBe('gzip')
  expect(headers['cache-control']).toContain('immutable')
  expect(gunzipSync(rawPayload).toString()).toBe('console.log(1)')
})

test.each([
  '/assets/missing.js',
  '/assets/..%2findex.html',
  '/assets/..%2f..%2fsecret.txt',
  '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
  '/assets/index-1.js%00.html',
])('%s is not found, and no browser keeps that', async (url) => {
  await build()
  await using app = await gateway()
  const { statusCode, headers } = await app.inject({ url })
  expect(statusCode).toBe(404)
  expect(headers['cache-control'] ?? '').not.toContain('immutable')
})
