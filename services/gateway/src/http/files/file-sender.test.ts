import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newSessionId } from '@mcp-host/contracts'
import { eventually } from '@mcp-host/testkit'
import type { FastifyInstance } from 'fastify'
import { fastify } from 'fastify'
import { afterEach, expect, test } from 'vitest'
import { replyError } from '../../edge/error-reply.ts'
import { ReadBudget } from '../../edge/read-budget.ts'
import { FileSender } from './file-sender.ts'

const session = newSessionId()
const key = `${session}.a`
const PIECES = 512
const PIECE = new Uint8Array(128 * 1024).fill(7)
const BYTES = PIECES * PIECE.length

let app: FastifyInstance
let port = 0
const NOTHING_SEEN = {
  /** Pieces that were read of the store, and how many reads have ended. */
  read: 0,
  ended: 0,
  /** Pieces that were read in the present turn of the event loop, and the most in one turn. */
  readInTurn: 0,
  mostInTurn: 0,
}
let seen = { ...NOTHING_SEEN }
const clients: Socket[] = []

const blobs = {
  find: async (name: string) =>
    name === key ? { key, bytes: BYTES, digest: 'd', mimeType: 'image/png' } : undefined,
  async *read() {
    // Reads of an earlier test may end later.
    const own = seen
    try {
      for (let piece = 0; piece < PIECES; piece += 1) {
        own.read += 1
        own.readInTurn += 1
        own.mostInTurn = Math.max(own.mostInTurn, own.readInTurn)
        yield PIECE
      }
    } finally {
      own.ended += 1
    }
  },
}

interface Options {
  readonly maxSent?: number
  readonly unreadMs?: number
  readonly budget?: Pick<ReadBudget, 'turn'>
}

async function start({ budget = new ReadBudget(BYTES), ...options }: Options = {}) {
  seen = { ...NOTHING_SEEN }
  const files = new FileSender({ blobs, budget }, options)
  app = fastify()
  app.setErrorHandler((error, _, reply) => replyError(reply, error))
  app.get<{ Params: { holder: string; key: string } }>(
    '/:holder/:key',
    async ({ params }, reply) => {
      await files.send(reply, { session, ...params })
    },
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  port = (app.server.address() as { port: number }).port
}
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  app.server.closeAllConnections()
  await app.close()
})

const ask = (holder: string, options?: RequestInit) =>
  fetch(`http://127.0.0.1:${port}/${holder}/${key}`, options)

/** Asks for the file, and reads no further than the beginning of the answer. */
async function begin(holder: string): Promise<Socket> {
  const client = connect(port, '127.0.0.1')
  clients.push(client)
  client.write(`GET /${holder}/${key} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  await once(client, 'data')
  return client.pause()
}

test('a file is read as its client reads it, to its end', async () => {
  await start()
  await begin('ann')
  expect(seen.read).toBeLessThan(PIECES / 2)
  const answer = await ask('ann')
  expect(answer.headers.get('content-length')).toBe(String(BYTES))
  expect((await answer.arrayBuffer()).byteLength).toBe(BYTES)
})

test('HEAD is answered without reading the file', async () => {
  await start()
  const { status, headers } = await ask('ann', { method: 'HEAD' })
  expect([status, headers.get('content-length'), headers.get('content-type')]).toEqual([
    200,
    String(BYTES),
    'image/png',
  ])
  expect(seen.read).toBe(0)
})

test('an answer that its client does not read is closed', async () => {
  await start({ unreadMs: 100 })
  await begin('ann')
  await eventually(() => seen.ended === 1)
  expect(seen.read).toBeLessThan(PIECES)
})

test('one client gets a quarter of the files that are sent at the same time, until it has read or left one', async () => {
  await start({ maxSent: 16 })
  const [first] = await Promise.all(['ann', 'ann', 'ann', 'ann'].map(begin))
  const refused = await ask('ann')
  expect(refused.status).toBe(429)
  expect(await refused.text()).toContain('4 files are sent to you right now')
  const others = await Promise.all(
    ['bob', 'cid', 'dan'].flatMap((each) => Array(4).fill(each)).map(begin),
  )
  expect(others).toHaveLength(12)
  expect((await ask('eve')).status).toBe(503)
  first?.destroy()
  await eventually(async () => (await ask('ann', { method: 'HEAD' })).status === 200)
})

test('other work comes between the pieces of files that are sent at the same time', async () => {
  await start()
  for (const client of await Promise.all(Array(8).fill('ann').map(begin))) client.resume()
  seen.mostInTurn = 0
  for (const until = seen.read + 64; seen.read < until; await nextTurn()) seen.readInTurn = 0
  expect(seen.mostInTurn).toBe(1)
})

test('an answer whose next piece waits for its turn is not closed', async () => {
  const turn = Promise.withResolvers<void>()
  const budget = {
    turn: (_: number, owner: string) => (owner === 'ann' ? turn.promise : Promise.resolve()),
  }
  await start({ budget, unreadMs: 100 })
  const answer = ask('ann')
  await begin('bob')
  await eventually(() => seen.ended === 1)
  turn.resolve()
  expect((await answer).status).toBe(200)
})
