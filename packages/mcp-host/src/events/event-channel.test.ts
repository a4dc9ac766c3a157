import { beforeEach, describe, expect, test, vi } from 'vitest'

import { EventChannel } from './event-channel.ts'

type Change =
  | { readonly type: 'added'; readonly name: string }
  | { readonly type: 'removed'; readonly id: number }

const added = (name: string): Change => ({ type: 'added', name })
const removed = (id: number): Change => ({ type: 'removed', id })

let errors: unknown[]
let channel: EventChannel<Change>
let controller: AbortController
let signal: AbortSignal

beforeEach(() => {
  errors = []
  channel = new EventChannel({ onListenerError: (error) => errors.push(error), maxUnread: 10 })
  controller = new AbortController()
  signal = controller.signal
})

describe('a reader', () => {
  test('a reader gets every event from its opening on, in order', async () => {
    channel.emit(added('before'))
    const reader = channel.read({ signal })
    channel.emit(added('a'))
    channel.emit(removed(1))
    channel.close()
    expect(await Array.fromAsync(reader)).toEqual([added('a'), removed(1)])
  })

  test('a reader waits for the next event', async () => {
    const reader = channel.read({ signal })
    const next = reader.next()
    channel.emit(added('a'))
    expect(await next).toEqual({ done: false, value: added('a') })
    const end = reader.next()
    channel.close()
    expect(await end).toEqual({ done: true, value: undefined })
  })

  test('a reader gets only the types that it requests', async () => {
    const reader = channel.read({ signal, types: ['removed'] })
    channel.emit(added('a'))
    channel.emit(removed(1))
    channel.close()
    const ids: number[] = []
    for await (const { id } of reader) ids.push(id)
    expect(ids).toEqual([1])
  })

  test('readers do not share events', async () => {
    const readers = [channel.read({ signal }), channel.read({ signal })]
    channel.emit(added('a'))
    channel.close()
    for (const reader of readers) expect(await Array.fromAsync(reader)).toEqual([added('a')])
  })

  test('a reader that falls behind ends with an error, after the events that it has', async () => {
    const reader = channel.read({ signal })
    for (let i = 0; i < 11; i += 1) channel.emit(removed(i))
    for (let i = 0; i < 10; i += 1) expect((await reader.next()).value).toEqual(removed(i))
    await expect(reader.next()).rejects.toThrow('more than 10 events were unread')
  })

  test('a reader does not fall behind because of other types', async () => {
    const reader = channel.read({ signal, types: ['added'] })
    for (let i = 0; i < 100; i += 1) channel.emit(removed(i))
    channel.emit(added('a'))
    channel.close()
    expect(await Array.fromAsync(reader)).toEqual([added('a')])
  })

  test('a reader may have 1,000 unread events by default', async () => {
    channel = new EventChannel({ onListenerError: () => {} })
    const reader = channel.read({ signal })
    for (let i = 0; i < 1_000; i += 1) channel.emit(removed(i))
    for (let i = 0; i < 1_000; i += 1) expect((await reader.next()).value).toEqual(removed(i))
    for (let i = 0; i < 1_001; i += 1) channel.emit(removed(i))
    await expect(Array.fromAsync(reader)).rejects.toThrow('more than 1000 events were unread')
  })

  test('a slow reader ends without affecting others', async () => {
    const slow = channel.read({ signal })
    const fast = channel.read({ signal })
    for (let i = 0; i < 30; i += 1) {
      channel.emit(removed(i))
      expect((await fast.next()).value).toEqual(removed(i))
    }
    await expect(Array.fromAsync(slow)).rejects.toThrow('were unread')
  })

  test('a reader that is left early is removed, with the listener of its signal', async () => {
    const off = vi.spyOn(signal, 'removeEventListener')
    const readType = vi.fn<() => 'added'>(() => 'added')
    const event = Object.defineProperty(added('a'), 'type', { get: readType })
    const reader = channel.read({ signal, types: ['added'] })
    channel.emit(event)
    // The listeners of its type read it once, and the reader once.
    expect(readType).toHaveBeenCalledTimes(2)
    for await (const _ of reader) break
    expect(off).toHaveBeenCalledTimes(1)
    channel.emit(event)
    expect(readType).toHaveBeenCalledTimes(3)
  })

  test('a reader ends with its signal, while it waits and before unread events', async () => {
    const waiting = channel.read({ signal, types: ['added'] })
    const busy = channel.read({ signal })
    const next = waiting.next()
    channel.emit(removed(1))
    controller.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(await Array.fromAsync(busy)).toEqual([])
  })

  test('a reader of a closed channel, or with an aborted signal, ends at once', async () => {
    expect(await Array.fromAsync(channel.read({ signal: AbortSignal.abort() }))).toEqual([])
    channel.close()
    const reader = channel.read({ signal })
    channel.emit(added('a'))
    expect(await Array.fromAsync(reader)).toEqual([])
  })
})

describe('a listener', () => {
  test('a listener gets events of its type until it is disposed of', () => {
    const names: string[] = []
    const registration = channel.on('added', ({ name }) => names.push(name))
    channel.emit(added('a'))
    channel.emit(removed(1))
    registration[Symbol.dispose]()
    registration[Symbol.dispose]()
    channel.emit(added('b'))
    expect(names).toEqual(['a'])
  })

  test('a listener gets no events after its signal, or after the channel is closed', () => {
    const listeners = [vi.fn(), vi.fn(), vi.fn(), vi.fn()] as const
    channel.on('added', listeners[0], { signal })
    channel.on('added', listeners[1], { signal: AbortSignal.abort() })
    channel.on('added', listeners[2])
    controller.abort()
    channel.emit(added('a'))
    channel.close()
    channel.on('added', listeners[3])
    channel.emit(added('b'))
    expect(listeners.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 1, 0])
  })

  test('a listener that is disposed of is removed from its signal', () => {
    const off = vi.spyOn(signal, 'removeEventListener')
    channel.on('added', () => {}, { signal })[Symbol.dispose]()
    expect(off).toHaveBeenCalledTimes(1)
  })

  test('a listener that throws or rejects affects no others', async () => {
    const fault = new Error('a fault')
    const rejection = new Error('a rejection')
    const listener = vi.fn()
    channel.on('added', () => {
      throw fault
    })
    channel.on('added', () => Promise.reject(rejection))
    channel.on('added', listener)
    const reader = channel.read({ signal })
    channel.emit(added('a'))
    expect((await reader.next()).value).toEqual(added('a'))
    expect(listener).toHaveBeenCalledTimes(1)
    expect(errors).toEqual([fault, rejection])
  })

  test('a listener is called as often as it was added', () => {
    const listener = vi.fn()
    const first = channel.on('added', listener)
    channel.on('added', listener)
    channel.emit(added('a'))
    first[Symbol.dispose]()
    channel.emit(added('b'))
    expect(listener).toHaveBeenCalledTimes(3)
  })

  test('a listener may add and remove listeners while it is called', () => {
    const late = vi.fn()
    const other = vi.fn()
    const registrations: Disposable[] = []
    channel.on('added', () => {
      channel.on('added', late)
      for (const registration of registrations) registration[Symbol.dispose]()
    })
    registrations.push(channel.on('added', other))
    channel.emit(added('a'))
    expect([late.mock.calls.length, other.mock.calls.length]).toEqual([0, 0])
    channel.emit(added('b'))
    expect(late).toHaveBeenCalledTimes(1)
  })
})
