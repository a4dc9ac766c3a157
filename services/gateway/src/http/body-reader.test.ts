import { once } from 'node:events'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
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
const sockets: Socket[] = []

async function serve(limits: Partial<BodyLimits> = {}): Promise<void> {
  reader = new BodyReader(limits)
  server = createServer((request, response) => {
    reader.receive(request, MAX_BYTES, (received) => {
      if (!(received instanceof BodyFault)) {
        using body = received
        response.end(`${body.bytes.length} bytes`)
      } else if (received.status !== 400) {
        response.writeHead(received.status).end()
      }
    })
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

function send(): Sender {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  let answer = ''
  socket.on('data', (data) => (answer += String(data)))
  socket.on('error', () => undefined)
  socket.write('POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n')
  return {
    socket,
    send: (piece) => void socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`),
    answer: () => answer,
  }
}

test('a body of one-byte pieces takes little more memory than its bytes', async () => {
  await serve()
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const used = (): number => {
    gc()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const pieces = 60_000
  const { socket } = send()
  await eventually(() => socket.readyState === 'open')
  const before = used()
  for (let sent = 0; sent < pieces; sent += 1_000) socket.write('1\r\nx\r\n'.repeat(1_000))
  await eventually(() => reader.heldBytes >= pieces)
  expect(used() - before).toBeLessThan(60 * pieces)
  expect(reader.heldBytes).toBeLessThanOrEqual(3 * pieces)
})

test('a body beyond the memory of all is refused, while small ones are still received', async () => {
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

test('a body that stands still is cut off, one that arrives is not', async () => {
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

test('a large body must come faster while memory is short', async () => {
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

test('what a refused client goes on to send is discarded up to a limit', async () => {
  await serve({ totalBytes: KIB, smallBytes: KIB })
  const { socket, send: sendPiece, answer } = send()
  for (let sent = 0; sent < 4 && !socket.destroyed; sent++) sendPiece('x'.repeat(MAX_BYTES))
  await eventually(() => answer().startsWith('HTTP/1.1 503 '))
  expect(reader.heldBytes).toBe(0)
  sendPiece('x')
  await once(socket, 'close')
})
