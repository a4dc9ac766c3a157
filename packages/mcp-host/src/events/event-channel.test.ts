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
  test('gets every event from the moment it was opened, in order', async () => {
    channel.emit(added('before'))
    const reader = channel.read({ signal })
    channel.emit(added('a'))
    channel.emit(removed(1))
    channel.close()
    expect(await Array.fromAsync(reader)).toEqual([added('a'), removed(1)])
  })

  test('waits for the next event', async () => {
    const reader = channel.read({ signal })
    const next = reader.next()
    channel.emit(added('a'))
    expect(await next).toEqual({ done: false, value: added('a') })
    const end = reader.next()
    channel.close()
    expect(await end).toEqual({ done: true, value: undefined })
  })

  test('gets only the types it asked for', async () => {
    const reader = channel.read({ signal, types: ['removed'] })
    channel.emit(added('a'))
    channel.emit(removed(1))
    channel.close()
    const ids: number[] = []
    for await (const { id } of reader) ids.push(id)
    expect(ids).toEqual([1])
  })

  test('shares nothing with other readers', async () => {
    const readers = [channel.read({ signal }), channel.read({ signal })]
    channel.emit(added('a'))
    channel.close()
    for (const reader of readers) expect(await Array.fromAsync(reader)).toEqual([added('a')])
  })

  test('ends with an error when it falls behind, after what was not lost', async () => {
    const reader = channel.read({ signal })
    for (let i = 0; i < 11; i += 1) channel.emit(removed(i))
    for (let i = 0; i < 10; i += 1) expect((await reader.next()).value).toEqual(removed(i))
    await expect(reader.next()).rejects.toThrow('more than 10 events were unread')
  })

  test('does not fall behind because of types it did not ask for', async () => {
    const reader = channel.read({ signal, types: ['added'] })
    for (let i = 0; i < 100; i += 1) channel.emit(removed(i))
    channel.emit(added('a'))
    channel.close()
    expect(await Array.fromAsync(reader)).toEqual([added('a')])
  })

  test('may have 1,000 unread events unless told otherwise', async () => {
    channel = new EventChannel({ onListenerError: () => {} })
    const reader = channel.read({ signal })
    for (let i = 0; i < 1_000; i += 1) channel.emit(removed(i))
    for (let i = 0; i < 1_000; i += 1) expect((await reader.next()).value).toEqual(removed(i))
    for (let i = 0; i < 1_001; i += 1) channel.emit(removed(i))
    await expect(Array.fromAsync(reader)).rejects.toThrow('more than 1000 events were unread')
  })

  test('that is too slow while others are not ends alone', async () => {
    const slow = channel.read({ signal })
    const fast = channel.read({ signal })
    for (let i = 0; i < 30; i += 1) {
      channel.emit(removed(i))
      expect((await fast.next()).value).toEqual(removed(i))
    }
    await expect(Array.fromAsync(slow)).rejects.toThrow('were unread')
  })

  test('that is left early is let go of, with its signal', async () => {
    const off = vi.spyOn(signal, 'removeEventListener')
    const looks = vi.fn<() => 'added'>(() => 'added')
    const event = Object.defineProperty(added('a'), 'type', { get: looks })
    const reader = channel.read({ signal, types: ['added'] })
    channel.emit(event)
    // Once for the listeners of its type, once for the reader.
    expect(looks).toHaveBeenCalledTimes(2)
    for await (const _ of reader) break
    expect(off).toHaveBeenCalledTimes(1)
    channel.emit(event)
    expect(looks).toHaveBeenCalledTimes(3)
  })

  test('ends with its signal, while it waits and before what is unread', async () => {
    const waiting = channel.read({ signal, types: ['added'] })
    const busy = channel.read({ signal })
    const next = waiting.next()
    channel.emit(removed(1))
    controller.abort()
    expect(await next).toEqual({ done: true, value: undefined })
    expect(await Array.fromAsync(busy)).toEqual([])
  })

  test('of a closed channel, or with an aborted signal, ends at once', async () => {
    expect(await Array.fromAsync(channel.read({ signal: AbortSignal.abort() }))).toEqual([])
    channel.close()
    const reader = channel.read({ signal })
    channel.emit(added('a'))
    expect(await Array.fromAsync(reader)).toEqual([])
  })
})

describe('a listener', () => {
  test('hears events of its type until it is disposed of', () => {
    const names: string[] = []
    const registration = channel.on('added', ({ name }) => names.push(name))
    channel.emit(added('a'))
    channel.emit(removed(1))
    registration[Symbol.dispose]()
    registration[Symbol.dispose]()
    channel.emit(added('b'))
    expect(names).toEqual(['a'])
  })

  test('hears nothing after its signal, or after the channel is closed', () => {
    const heard = [vi.fn(), vi.fn(), vi.fn(), vi.fn()] as const
    channel.on('added', heard[0], { signal })
    channel.on('added', heard[1], { signal: AbortSignal.abort() })
    channel.on('added', heard[2])
    controller.abort()
    channel.emit(added('a'))
    channel.close()
    channel.on('added', heard[3])
    channel.emit(added('b'))
    expect(heard.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 1, 0])
  })

  test('that is disposed of lets go of its signal', () => {
    const off = vi.spyOn(signal, 'removeEventListener')
    channel.on('added', () => {}, { signal })[Symbol.dispose]()
    expect(off).toHaveBeenCalledTimes(1)
  })

  test('that throws or rejects harms nobody', async () => {
    const fault = new Error('a fault')
    const rejection = new Error('a rejection')
    const heard = vi.fn()
    channel.on('added', () => {
      throw fault
    })
    channel.on('added', () => Promise.reject(rejection))
    channel.on('added', heard)
    const reader = channel.read({ signal })
    channel.emit(added('a'))
    expect((await reader.next()).value).toEqual(added('a'))
    expect(heard).toHaveBeenCalledTimes(1)
    expect(errors).toEqual([fault, rejection])
  })

  test('is called as often as it was added', () => {
    const listener = vi.fn()
    const first = channel.on('added', listener)
    channel.on('added', listener)
    channel.emit(added('a'))
    first[Symbol.dispose]()
    channel.emit(added('b'))
    expect(listener).toHaveBeenCalledTimes(3)
  })

  test('may add and remove listeners while it is called', () => {
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
