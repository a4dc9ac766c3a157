import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { GatheringTransport } from './gathering-transport.ts'

/** Records its writes. */
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

test('data that is sent within one turn of the event loop is written at once, in order', async () => {
  const socket = new RecordingSocket()
  const transport = new GatheringTransport()
  transport.options = {}
  // The transport only writes to its socket.
  transport.socket = socket as unknown as Socket
  send(transport, 'a')
  await Promise.resolve()
  send(transport, 'b')
  expect(socket.writes).toEqual([])
  await immediate()
  send(transport, 'c')
  await immediate()
  expect(socket.writes).toEqual(['ab', 'c'])
})

test('data is dropped once the transport is closed', () => {
  const transport = new GatheringTransport()
  expect(() => send(transport, 'late')).not.toThrow()
})
