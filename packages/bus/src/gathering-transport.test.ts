import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GatheringTransport } from './gathering-transport.ts'

/** Keeps what it is told to write. */
class RecordingSocket extends Writable {
  readonly writes: string[] = []

  override _write(chunk: Buffer, _: unknown, done: () => void): void {
    this.writes.push(chunk.toString())
    done()
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(chunks.map(({ chunk }) => chunk.toString()).join(''))
    done()
  }
}

const send = (transport: GatheringTransport, text: string): void =>
  transport.send(Buffer.from(text))

test('what is sent in one turn of the event loop is written at once, in order', async () => {
  const socket = new RecordingSocket()
  const transport = new GatheringTransport()
  transport.options = {}
  // Of a socket it only needs that it can be written to.
  transport.socket = socket as unknown as Socket
  send(transport, 'a')
  await Promise.resolve()
  send(transport, 'b')
  expect(socket.writes).toEqual([])
  await turn()
  send(transport, 'c')
  await turn()
  expect(socket.writes).toEqual(['ab', 'c'])
})

test('nothing is sent once it is closed', () => {
  const transport = new GatheringTransport()
  expect(() => send(transport, 'late')).not.toThrow()
})
