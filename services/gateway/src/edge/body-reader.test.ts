import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { eventually } from '@mcp-host/testkit'
import { afterEach, expect, test } from 'vitest'
import type { BodyLimits } from './body-reader.ts'
import { BodyFault, BodyReader } from './body-reader.ts'

const KIB = 1024
const MAX_BYTES = 512 * KIB

let reader: BodyReader
let server: Server
/** Bytes that the server read from each connection that has ended. */
let received: number[]
const sockets: Socket[] = []

/** Pieces that the parser passed on. */
let parsedPieces: number

function countPieces(request: IncomingMessage): void {
  const push = request.push.bind(request)
  request.push = (piece: unknown) => {
    parsedPieces += 1
    return push(piece)
  }
}

/** Reads each body after `delayMs`, as a route that calls the bus first. */
async function serve(limits: Partial<BodyLimits> = {}, delayMs = 0): Promise<void> {
  reader = new BodyReader(limits)
  received = []
  parsedPieces = 0
  server = createServer((request, response) => {
    const receive = (): void => {
      reader.receive(request, MAX_BYTES, (fault) => {
        if (!(fault instanceof BodyFault)) {
          using body = fault
          response.end(`${body.bytes.length} bytes`)
        } else {
          if (fault.closes) response.setHeader('connection', 'close')
          response.writeHead(fault.status).end()
        }
      })
      countPieces(request)
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
  reader[Symbol.dispose]()
  server.close()
})

interface Sender {
  readonly socket: Socket
  /** Sends a piece of the body. */
  readonly send: (piece: string) => void
  /** The answer, once it has come. */
  readonly answer: () => string
}

function send(length = 'transfer-encoding: chunked'): Sender {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  let answer = ''
  socket.on('data', (data) => (answer += String(data)))
  socket.on('error', () => undefined)
  socket.write(`POST / HTTP/1.1\r\nhost: localhost\r\n${length}\r\n\r\n`)
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

test('a body beyond the memory limit of all bodies is refused, while small ones are received', async () => {
  await serve({ totalBytes: 300 * KIB, smallBytes: KIB })
  const first = send()
  first.send('x'.repeat(250 * KIB))
  await eventually(() => reader.heldBytes >= 250 * KIB)
  const second = send()
  second.send('x'.repeat(100 * KIB))
  await eventually(() => second.answer().startsWith('HTTP/1.1 503 '))
  const small = send()
  small.send('x'.repeat(KIB))
  small.send('')
  await eventually(() => small.answer().endsWith('1024 bytes'))
  first.socket.destroy()
  await eventually(() => reader.heldBytes === 0)
})

test('a stalled body is refused, a steady one is received', async () => {
  await serve()
  const slow = send()
  const steady = send()
  for (const each of [slow, steady]) each.send('x'.repeat(10 * KIB))
  await eventually(() => reader.heldBytes >= 20 * KIB)
  reader.checkRates()
  steady.send('x'.repeat(10 * KIB))
  const held = reader.heldBytes
  await eventually(() => reader.heldBytes > held)
  reader.checkRates()
  await eventually(() => slow.answer().startsWith('HTTP/1.1 408 '))
  steady.send('')
  await eventually(() => steady.answer().endsWith(`${20 * KIB} bytes`))
  expect(reader.heldBytes).toBe(0)
})

test('a large body that is slow is refused while memory is short', async () => {
  const least = { minBytesPerSecond: 0, minBytesPerSecondWhenCrowded: 1 }
  await serve({ totalBytes: 300 * KIB, smallBytes: KIB, ...least })
  const small = send()
  small.send('x'.repeat(KIB))
  const large = send()
  large.send('x'.repeat(100 * KIB))
  await eventually(() => reader.heldBytes >= 101 * KIB)
  for (let checks = 0; checks < 3; checks++) reader.checkRates()
  const another = send()
  another.send('x'.repeat(100 * KIB))
  await eventually(() => reader.heldBytes >= 201 * KIB)
  reader.checkRates()
  await eventually(() => large.answer().startsWith('HTTP/1.1 408 '))
  expect([small.answer(), another.answer()]).toEqual(['', ''])
})

test('the rest of a refused body is discarded up to a limit', async () => {
  await serve({ totalBytes: KIB, smallBytes: KIB })
  const { socket, send: sendPiece, answer } = send()
  for (let sent = 0; sent < 4 && !socket.destroyed; sent++) sendPiece('x'.repeat(MAX_BYTES))
  await eventually(() => answer().startsWith('HTTP/1.1 503 '))
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
  expect(Math.max(...received)).toBeLessThan(200 * KIB)
  // The remaining 9,000 pieces of that read are skipped.
  expect(parsedPieces).toBeLessThan(senders.length * 2_100)
  expect(reader.heldBytes).toBe(0)
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

test('a body that is read late is paused while others use up the read budget', async () => {
  await serve({}, 20)
  const late = send()
  for (let sent = 0; sent < 4; sent++) late.send('x'.repeat(100 * KIB))
  const other = { pause: () => undefined, resume: () => undefined }
  reader.budget.spend(other, 32 * 1024 * KIB)
  await eventually(() => reader.heldBytes > 0)
  await setTimeout(100)
  expect(reader.heldBytes).toBeLessThan(300 * KIB)
  late.send('')
  await eventually(() => late.answer().endsWith(`${400 * KIB} bytes`))
})

test('a body of known length is received in one or several pieces, and refused when it stalls', async () => {
  await serve()
  const [whole, halves, stopped, silent, broken] = Array.from({ length: 5 }, () =>
    send('content-length: 2048'),
  ) as [Sender, Sender, Sender, Sender, Sender]
  whole.socket.write('x'.repeat(2 * KIB))
  for (const each of [halves, stopped, broken]) each.socket.write('x'.repeat(KIB))
  await eventually(() => whole.answer().endsWith('2048 bytes') && reader.heldBytes === 3 * KIB)
  broken.socket.destroy()
  halves.socket.write('x'.repeat(KIB))
  await eventually(() => halves.answer().endsWith('2048 bytes') && reader.heldBytes === KIB)
  reader.checkRates()
  reader.checkRates()
  const areRefused = (): boolean =>
    [stopped, silent].every((each) => each.answer().includes(' 408 '))
  await eventually(areRefused)
  expect(reader.heldBytes).toBe(0)
})
