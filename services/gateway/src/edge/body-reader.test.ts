import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { eventually } from '@mcp-host/testkit'
import { afterEach, expect, test } from 'vitest'
import { BodyFault, BodyReader } from './body-reader.ts'
import { ReadBudget } from './read-budget.ts'

const KIB = 1024
const MAX_BYTES = 512 * KIB

let reader: BodyReader
let server: Server
/** Bytes that the server read from each connection that has ended. */
let received: number[]
let requests: IncomingMessage[]
const sockets: Socket[] = []

/** Reads each body after `delayMs`, as a route that calls the bus first. */
async function serve(limits: { totalBytes?: number } = {}, delayMs = 0): Promise<void> {
  const ownerOf = ({ url = '' }: IncomingMessage): string => url
  reader = new BodyReader(new ReadBudget(), { ownerOf, ...limits })
  received = []
  requests = []
  server = createServer({ highWaterMark: KIB }, (request, response) => {
    requests.push(request)
    const receive = (): void => {
      const share = { maxBytes: MAX_BYTES, owner: ownerOf(request) }
      reader.receive(request, share, (fault) => {
        if (!(fault instanceof BodyFault)) {
          using body = fault
          response.end(`${body.bytes.length} bytes`)
        } else {
          if (fault.closes) response.setHeader('connection', 'close')
          response.writeHead(fault.status).end()
        }
      })
    }
    if (delayMs === 0) receive()
    else void setTimeout(delayMs).then(receive)
  })
  server.on('connection', (socket: Socket) => {
    socket.on('close', () => received.push(socket.bytesRead))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
})

interface Sender {
  readonly socket: Socket
  /** Sends a piece of the body. */
  readonly send: (piece: string) => void
  /** The answer, once it has come. */
  readonly answer: () => string
}

function open(): Socket {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  return socket
}

/** `owner`: a path, as which the reader here takes it. */
function headOf(length = 'transfer-encoding: chunked', owner = '/'): string {
  return `POST ${owner} HTTP/1.1\r\nhost: localhost\r\n${length}\r\n\r\n`
}

function send(length?: string, owner?: string): Sender {
  const socket = open()
  let answer = ''
  socket.on('data', (data) => (answer += String(data)))
  socket.write(headOf(length, owner))
  return {
    socket,
    send: (piece) => void socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`),
    answer: () => answer,
  }
}

test('a body of small pieces uses little more memory than its bytes', async () => {
  await serve()
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const used = (): number => {
    gc()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const [pieces, piece] = [10_000, 'x'.repeat(40)]
  const bytes = pieces * piece.length
  const { socket, send: sendPiece } = send()
  await eventually(() => socket.readyState === 'open')
  const before = used()
  for (let sent = 0; sent < pieces; sent++) sendPiece(piece)
  await eventually(() => reader.heldBytes >= bytes)
  expect(used() - before).toBeLessThan(6 * bytes)
  expect(reader.heldBytes).toBeLessThanOrEqual(3 * bytes)
})

test('beyond the memory limit of all bodies the oldest large one is refused, and small ones are received', async () => {
  await serve({ totalBytes: 300 * KIB })
  const small = send()
  small.send('x'.repeat(KIB))
  const first = send()
  first.send('x'.repeat(150 * KIB))
  await eventually(() => reader.heldBytes >= 150 * KIB)
  const second = send()
  second.send('x'.repeat(100 * KIB))
  await eventually(() => reader.heldBytes >= 250 * KIB)
  const third = send()
  third.send('x'.repeat(100 * KIB))
  await eventually(() => first.answer().startsWith('HTTP/1.1 503 '))
  for (const each of [small, second, third]) each.send('')
  await eventually(() => small.answer().endsWith(' bytes'))
  await eventually(() => third.answer().endsWith(`${100 * KIB} bytes`))
  expect(small.answer()).toMatch(/1024 bytes$/)
  expect(second.answer()).toMatch(/102400 bytes$/)
  expect(reader.heldBytes).toBe(0)
})

test('beyond it, a body is refused of the owner whose bodies take most, also when that of another is older', async () => {
  await serve({ totalBytes: 300 * KIB })
  const old = send(undefined, '/ann')
  old.send('x'.repeat(100 * KIB))
  await eventually(() => reader.heldBytes >= 100 * KIB)
  const first = send(undefined, '/mal')
  first.send('x'.repeat(120 * KIB))
  await eventually(() => reader.heldBytes >= 220 * KIB)
  const second = send(undefined, '/mal')
  second.send('x'.repeat(120 * KIB))
  await eventually(() => first.answer().startsWith('HTTP/1.1 503 '))
  for (const each of [old, second]) each.send('')
  await eventually(() => old.answer().endsWith(`${100 * KIB} bytes`))
  await eventually(() => second.answer().endsWith(`${120 * KIB} bytes`))
})

test('the memory of a body that breaks off is free again', async () => {
  await serve()
  const broken = send()
  broken.send('x'.repeat(100 * KIB))
  await eventually(() => reader.heldBytes >= 100 * KIB)
  broken.socket.destroy()
  await eventually(() => reader.heldBytes === 0)
})

test('the rest of a refused body is discarded up to a limit', async () => {
  await serve()
  const { socket, send: sendPiece, answer } = send()
  for (let sent = 0; sent < 4 && !socket.destroyed; sent++) sendPiece('x'.repeat(MAX_BYTES))
  await eventually(() => answer().startsWith('HTTP/1.1 413 '))
  expect(reader.heldBytes).toBe(0)
  sendPiece('x')
  await once(socket, 'close')
})

test('bodies in tiny pieces are refused after few reads', async () => {
  await serve()
  const senders = [send(), send()]
  for (const { socket } of senders) socket.write('1\r\nx\r\n'.repeat(300_000))
  await eventually(() => senders.every(({ socket }) => socket.destroyed))
  expect(senders.map(({ answer }) => answer().slice(0, 12))).toEqual([
    'HTTP/1.1 400',
    'HTTP/1.1 400',
  ])
  await eventually(() => received.length === 2)
  // One read has 64 KiB.
  expect(Math.max(...received)).toBeLessThan(100 * KIB)
  // Its pieces take 200 bytes each while the answer waits.
  expect(requests.map(({ readableLength }) => readableLength)).toEqual([0, 0])
  expect(reader.heldBytes).toBe(0)
})

test('many that send tiny pieces at the same time are read in few turns of the event loop', async () => {
  await serve()
  reader.watch(server)
  const accepted: Socket[] = []
  let isLastHeld = false
  server.on('connection', (socket) => {
    accepted.push(socket)
    isLastHeld = socket.isPaused()
  })
  const clients = Array.from({ length: 40 }, () => open())
  await eventually(() => accepted.length === clients.length)
  // All of it has arrived when the server reads next.
  for (const socket of clients) socket.write(headOf() + '1\r\nx\r\n'.repeat(3_000))
  const turns: number[] = []
  let honest: Sender | undefined
  for (let before = 0; requests.length < clients.length;) {
    await nextTurn()
    if (requests.length === before) continue
    turns.push(requests.length - before)
    before = requests.length
    honest ??= send('content-length: 1')
  }
  expect(Math.max(...turns)).toBeLessThanOrEqual(20)
  expect(turns.length).toBeLessThanOrEqual(4)
  await eventually(() => accepted.length > clients.length)
  expect(isLastHeld).toBe(true)
  honest?.socket.write('x')
  await eventually(() => honest?.answer().endsWith('1 bytes'))
})

test('a connection that was upgraded is not held while another one sends tiny pieces', async () => {
  await serve()
  reader.watch(server)
  let pauses = 0
  server.on('upgrade', ({ socket }) => {
    socket.on('pause', () => (pauses += 1))
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: raw\r\n\r\n')
  })
  const upgraded = open()
  upgraded.write(headOf('connection: upgrade\r\nupgrade: raw'))
  await once(upgraded, 'data')
  const tiny = open()
  tiny.write(headOf() + '1\r\nx\r\n'.repeat(3_000))
  // Once others are held.
  await eventually(() => requests.length === 1)
  await nextTurn()
  expect(pauses).toBe(0)
})

test('others beside one that sends tiny pieces are read after a moment', async () => {
  await serve()
  reader.watch(server)
  let accepted = 0
  server.on('connection', () => (accepted += 1))
  const clients = Array.from({ length: 50 }, () => open())
  const answered = clients.map((client) => once(client, 'data'))
  const tiny = open()
  await eventually(() => accepted === clients.length + 1)
  tiny.write(headOf() + '1\r\nx\r\n'.repeat(3_000))
  for (const client of clients) client.write(`${headOf('content-length: 1')}x`)
  const answers = await Promise.all(answered)
  expect(answers.every(([answer]) => String(answer).startsWith('HTTP/1.1 200'))).toBe(true)
})

test('bodies in pieces of 1 KiB and short bodies in tiny pieces are received', async () => {
  await serve()
  const piecewise = send()
  for (let sent = 0; sent < 400; sent++) piecewise.send('x'.repeat(KIB))
  piecewise.send('')
  await eventually(() => piecewise.answer().endsWith(`${400 * KIB} bytes`))
  const short = send()
  for (let sent = 0; sent < 2_000; sent++) short.send('x')
  short.send('')
  await eventually(() => short.answer().endsWith('2000 bytes'))
})

test('an unread body is discarded up to a limit after the answer', async () => {
  reader = new BodyReader()
  server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    reader.discard(request)
    response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { socket, answer, send: sendPiece } = send()
  await eventually(() => answer().startsWith('HTTP/1.1 404 '))
  sendPiece('x'.repeat(MAX_BYTES))
  sendPiece('x'.repeat(2 * MAX_BYTES))
  await eventually(() => socket.destroyed)
})

test('a body waits while others use up the rate', async () => {
  await serve({}, 20)
  const others = Array.from({ length: 60 }, () => send())
  for (const other of others) other.send('x'.repeat(MAX_BYTES))
  await eventually(() => reader.heldBytes >= 24 * 1024 * KIB)
  const late = send()
  late.send('x'.repeat(400 * KIB))
  late.send('')
  await setTimeout(100)
  expect(late.answer()).toBe('')
  await eventually(() => late.answer().endsWith(`${400 * KIB} bytes`))
})

test('a body of known length is received in one or several pieces, and of one that breaks off nothing is left', async () => {
  await serve()
  const [whole, halves, large, broken] = [2, 2, 100, 100].map((kib) =>
    send(`content-length: ${kib * KIB}`),
  ) as [Sender, Sender, Sender, Sender]
  whole.socket.write('x'.repeat(2 * KIB))
  halves.socket.write('x'.repeat(KIB))
  for (const each of [large, broken]) each.socket.write('x'.repeat(80 * KIB))
  await eventually(() => whole.answer().endsWith('2048 bytes') && reader.heldBytes >= 160 * KIB)
  broken.socket.destroy()
  halves.socket.write('x'.repeat(KIB))
  large.socket.write('x'.repeat(20 * KIB))
  await eventually(() => halves.answer().endsWith('2048 bytes'))
  await eventually(() => large.answer().endsWith(`${100 * KIB} bytes`))
  await eventually(() => reader.heldBytes === 0)
})
