import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { fastify } from 'fastify'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { compressAnswers } from './compress-answers.ts'

const large = JSON.stringify({ text: 'ä'.repeat(8 * 1024) })
const small = JSON.stringify({ text: 'a'.repeat(8_000) })

let app: FastifyInstance
beforeEach(async () => {
  app = fastify()
  compressAnswers(app)
  app.get('/large', (_, reply) => reply.type('application/json').send(large))
  app.get('/bytes', (_, reply) =>
    reply.type('application/json').send(new TextEncoder().encode(large)),
  )
  app.get('/object', () => JSON.parse(large) as object)
  app.get('/small', (_, reply) => reply.type('application/json').send(small))
  app.get('/tagged', (_, reply) =>
    reply.headers({ etag: '"a"', vary: 'Origin' }).type('application/json').send(large),
  )
  app.get('/image', (_, reply) => reply.type('image/png').send(Buffer.alloc(100_000)))
  app.get('/events', (_, reply) =>
    reply.type('text/event-stream').send(Readable.from([`data: ${large}\n\n`])),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(() => app.close())

/** The response as it is on the wire. */
async function ask(
  path: string,
  encodings?: string,
): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const { port } = app.server.address() as AddressInfo
  const headers = encodings === undefined ? {} : { 'accept-encoding': encodings }
  const request = get({ port, host: '127.0.0.1', path, headers })
  const [response] = await once(request, 'response')
  return { headers: response.headers, body: await buffer(response) }
}

const DECODERS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
}

test.each([
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'zstd'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, GZIP ; q=0.8, zstd;q=0', 'gzip'],
])('a client that accepts %s gets the encoding %s', async (accepted, encoding) => {
  for (const path of ['/large', '/bytes', '/object']) {
    const { headers, body } = await ask(path, accepted)
    expect(headers).toMatchObject({
      'content-encoding': encoding,
      'content-length': String(body.length),
      vary: 'Accept-Encoding',
    })
    expect(body.length).toBeLessThan(1_000)
    expect(DECODERS[encoding]?.(body).toString()).toBe(large)
  }
})

test.each([undefined, '', 'identity', 'deflate', '*', 'gzip;q=0', ';;,,'])(
  'a client that accepts %j gets an uncompressed answer',
  async (accepted) => {
    const { headers, body } = await ask('/large', accepted)
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers.vary).toBe('Accept-Encoding')
    expect(body.toString()).toBe(large)
  },
)

test.each(['/small', '/image', '/events'])('the answer of %s is not compressed', async (path) => {
  const { headers } = await ask(path, 'gzip, br, zstd')
  expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined])
})

test('a compressed answer keeps its Vary header and gets a weak ETag', async () => {
  const { headers } = await ask('/tagged', 'gzip')
  expect(headers).toMatchObject({ etag: 'W/"a"', vary: 'Origin, Accept-Encoding' })
  expect((await ask('/tagged')).headers.etag).toBe('"a"')
})
