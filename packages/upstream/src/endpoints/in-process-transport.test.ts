import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'

import { testIntake } from '../../test/intake.ts'
import { InProcessTransport } from './in-process-transport.ts'

/** A transport whose server answers each request with `result`, and what came back. */
async function open(result: object): Promise<[Transport, JSONRPCMessage[], JSONRPCMessage[]]> {
  const [received, answers]: [JSONRPCMessage[], JSONRPCMessage[]] = [[], []]
  const serve = async (server: Transport): Promise<void> => {
    const onmessage: Transport['onmessage'] = (message) => {
      received.push(message)
      // Any object serves as a result here.
      if ('method' in message && 'id' in message) {
        void server.send({ jsonrpc: '2.0', id: message.id, result } as JSONRPCMessage)
      }
    }
    Object.assign(server, { onmessage })
    await server.start()
  }
  const transport = new InProcessTransport(serve, testIntake().intake)
  Object.assign(transport, { onmessage: (message: JSONRPCMessage) => void answers.push(message) })
  await transport.start()
  return [transport, received, answers]
}

test('a server and its caller never have the same object', async () => {
  const [kept, params] = [{ list: [1] }, { list: [1] }]
  const [transport, received, answers] = await open(kept)
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'x', params })
  kept.list.push(2)
  params.list.push(2)
  expect(answers).toEqual([{ jsonrpc: '2.0', id: 1, result: { list: [1] } }])
  expect(received).toMatchObject([{ params: { list: [1] } }])
})

test('an answer that is too deep is refused as one of any other server', async () => {
  const deep: Record<string, unknown> = {}
  let inner: Record<string, unknown> = deep
  for (let depth = 0; depth < 2000; depth += 1) {
    const next = {}
    inner['in'] = next
    inner = next
  }
  const [transport, , answers] = await open(deep)
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'x' })
  expect(answers).toMatchObject([{ id: 1, error: { message: expect.stringContaining('deep') } }])
})
