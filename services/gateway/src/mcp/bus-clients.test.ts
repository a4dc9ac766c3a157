import type { Bus } from '@mcp-host/bus'
import { nothing } from '@mcp-host/mcp-endpoint/testing'
import { expect, test } from 'vitest'
import { BusClients } from './bus-clients.ts'

test('a cancel reaches all requests with its id, until each has ended', () => {
  let emitCancel: (cancel: object) => void = () => undefined
  const bus = {
    listen(_contract: unknown, _params: unknown, listener: (cancel: object) => void) {
      emitCancel = listener
      return { [Symbol.dispose]: () => undefined }
    },
  }
  const view = {
    get: () => undefined,
    read: () => undefined,
    hold: () => nothing,
    onChange: () => nothing,
  }
  // BusClients uses only this method.
  const clients = new BusClients(bus as object as Bus, view)
  const cancelled: string[] = []
  const one = clients.onCancel('c', 1, () => void cancelled.push('one'))
  clients.onCancel('c', 1, () => void cancelled.push('two'))
  emitCancel({ client: 'c', requestId: '1' })
  emitCancel({ client: 'd', requestId: 1 })
  expect(cancelled).toEqual([])
  emitCancel({ client: 'c', requestId: 1 })
  expect(cancelled).toEqual(['one', 'two'])
  one[Symbol.dispose]()
  emitCancel({ client: 'c', requestId: 1 })
  expect(cancelled).toEqual(['one', 'two', 'two'])
})
