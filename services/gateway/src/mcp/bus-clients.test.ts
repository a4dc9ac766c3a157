import { expect, test } from 'vitest'
import { nothing } from './core/__fixtures__/no-clients.ts'
import { BusClients } from './bus-clients.ts'

test('of two requests under one id both are cancelled, and one that is over takes nothing from the other', () => {
  let hear: (said: object) => void = () => undefined
  const bus = {
    listen(_contract: unknown, _params: unknown, listener: (said: object) => void) {
      hear = listener
      return { [Symbol.dispose]: () => undefined }
    },
  }
  const view = {
    get: () => undefined,
    read: () => undefined,
    hold: () => nothing,
    onChange: () => nothing,
  }
  // It listens and does nothing else.
  const clients = new BusClients(bus as never, view)
  const heard: string[] = []
  const one = clients.onCancel('c', 1, () => void heard.push('one'))
  clients.onCancel('c', 1, () => void heard.push('two'))
  hear({ client: 'c', requestId: '1' })
  hear({ client: 'd', requestId: 1 })
  expect(heard).toEqual([])
  hear({ client: 'c', requestId: 1 })
  expect(heard).toEqual(['one', 'two'])
  one[Symbol.dispose]()
  hear({ client: 'c', requestId: 1 })
  expect(heard).toEqual(['one', 'two', 'two'])
})
