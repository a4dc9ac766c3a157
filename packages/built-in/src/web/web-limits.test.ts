import { gzipSync } from 'node:zlib'
import { eventually, textOf } from '@mcp-host/mcp-testkit'
import { expect, test } from 'vitest'

import { fetchFrom, openPage, openSite, openWeb } from './__fixtures__/open-web.ts'

test.each([
  ['a huge body', Buffer.alloc(6 * 1024 * 1024, 'x'), {}],
  ['a gzip bomb', gzipSync(Buffer.alloc(50 * 1024 * 1024, 'x')), { 'content-encoding': 'gzip' }],
])('%s is refused', async (_, body, headers) => {
  const site = await openSite((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body)
  })
  expect(textOf(await fetchFrom(site))).toContain('the answer is too large')
})

test('a compressed body is read although none was asked for', async () => {
  const site = await openSite((_, response) => {
    const fields = { 'content-type': 'text/plain', 'content-encoding': 'gzip' }
    response.writeHead(200, fields).end(gzipSync('small'))
  })
  expect((await fetchFrom(site)).structuredContent).toMatchObject({ text: 'small' })
})

test.each([
  ['broken', 'gzip', 'no valid gzip'],
  ['unknown', 'sdch', 'compressed by sdch'],
])('a body of %s compression is refused', async (_, coding, reason) => {
  const site = await openSite((_request, response) => {
    response.writeHead(200, { 'content-encoding': coding }).end('plain')
  })
  expect(textOf(await fetchFrom(site))).toContain(reason)
})

test('an endless body ends at the limit of its size', async () => {
  let isClosed = false
  const site = await openSite((_, response) => {
    const more = (): void => {
      while (!response.closed && response.write('x'.repeat(65_536)));
    }
    response.on('drain', more).on('close', () => (isClosed = true))
    more()
  })
  const result = await fetchFrom(site, { limits: { maxBytes: 1024 * 1024 } })
  expect(textOf(result)).toContain('the answer is too large')
  await eventually(() => isClosed)
})

test('a slow body ends at the time limit', async () => {
  const site = await openSite((_, response) => {
    const timer = setInterval(() => response.write('x'), 10)
    response.on('close', () => clearInterval(timer))
  })
  const result = await fetchFrom(site, { limits: { fetchMs: 200 } })
  expect(textOf(result)).toContain('did not answer in full within 0.2 s')
})

test('the time limit is for all redirects together', async () => {
  const site = await openSite((_, response) => {
    setTimeout(() => response.writeHead(302, { location: '/' }).end(), 120)
  })
  const result = await fetchFrom(site, { limits: { fetchMs: 200 } })
  expect(textOf(result)).toContain('within 0.2 s')
})

test('redirects in a circle end after five', async () => {
  const site = await openSite((_, response) => response.writeHead(302, { location: '/' }).end())
  expect(textOf(await fetchFrom(site))).toContain('redirects more than 5 times')
  expect(site.requests).toHaveLength(6)
})

test('a page of 200,000 nested tags is read without blocking the event loop', async () => {
  const site = await openPage(`<body>${'<div>'.repeat(200_000)}deep`)
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 5)
  const { structuredContent } = await fetchFrom(site)
  clearInterval(timer)
  expect(structuredContent).toMatchObject({ text: 'deep' })
  expect(longest).toBeLessThan(500)
})

const slowPage = (): string =>
  `<body><p ${Array.from({ length: 400_000 }, (_, index) => `a${index}=x`).join(' ')}>slow</p>`

test('a page that is slow to convert is refused at the time limit, and can be read raw', async () => {
  const site = await openPage(slowPage())
  const result = await fetchFrom(site, { limits: { convertMs: 300 } })
  expect(textOf(result)).toContain('it takes more than 300 ms; try the format raw')
  expect((await fetchFrom(site, { format: 'raw' })).isError).toBeFalsy()
})

test('a conversion that needs too much memory is refused', async () => {
  const site = await openPage(`<p>${'<a href="x">y</a> '.repeat(250_000)}`)
  const result = await fetchFrom(site, { limits: { convertMb: 8 } })
  expect(textOf(result)).toMatch(/memory/)
})

test('only some fetches run at the same time', async () => {
  let running = 0
  let most = 0
  const site = await openSite((_, response) => {
    running += 1
    most = Math.max(most, running)
    setTimeout(() => {
      running -= 1
      response.setHeader('content-type', 'text/plain').end('x')
    }, 30)
  })
  const client = await openWeb({ allowedOrigins: [site.origin], limits: { maxFetches: 2 } })
  const call = { name: 'web_fetch', arguments: { url: site.origin } }
  const results = await Promise.all(Array.from({ length: 6 }, () => client.callTool(call)))
  expect(results.filter(({ isError }) => isError)).toEqual([])
  expect(most).toBe(2)
  const many = await Promise.all(Array.from({ length: 70 }, () => client.callTool(call)))
  expect(textOf(many.find(({ isError }) => isError)!)).toContain('64 requests wait already')
})

test('a cancelled request ends its fetch', async () => {
  let isClosed = false
  const site = await openSite((_, response) => {
    response.on('close', () => (isClosed = true))
  })
  const client = await openWeb({ allowedOrigins: [site.origin] })
  const controller = new AbortController()
  const call = { name: 'web_fetch', arguments: { url: site.origin } }
  const result = client.callTool(call, { signal: controller.signal })
  await eventually(() => site.requests.length === 1)
  controller.abort()
  await expect(result).rejects.toThrow()
  await eventually(() => isClosed, 2_000)
})
