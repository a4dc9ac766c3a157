import { expect, test } from 'vitest'
import type { OutFrame } from './outbox.ts'
import { Outbox, storedOutbox } from './outbox.ts'

const message = (id: string): OutFrame => ({ type: 'message', payload: { id, text: 'hi' } })

/** The storage of a browser. */
function openStorage() {
  const values = new Map<string, string>()
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
    key: (index: number) => Array.from(values.keys())[index] ?? null,
    get length() {
      return values.size
    },
  }
}

test('frames keep their order until each is accepted or refused', async () => {
  const outbox = new Outbox(undefined)
  const [first, second, third] = ['m1', 'm2', 'm3'].map((id) => outbox.add(message(id)))
  outbox.accepted('m2', true)
  expect(outbox.frames).toEqual([message('m1'), message('m3')])
  outbox.refused('m1', new Error('too long'))
  outbox.accepted('m3', false)
  outbox.accepted('unknown', false)
  await expect(first).rejects.toThrow('too long')
  expect(await second).toEqual({ duplicate: true })
  expect(await third).toEqual({ duplicate: false })
  expect(outbox.frames).toEqual([])
})

test('a later page sends what an earlier one could not', async () => {
  const storage = openStorage()
  const before = new Outbox(storedOutbox(storage, 'outbox'))
  const lost = before.add(message('m1'))
  before.end(new Error('the page is closed'))
  await expect(lost).rejects.toThrow('the page is closed')
  const after = new Outbox(storedOutbox(storage, 'outbox'))
  expect(after.frames).toEqual([message('m1')])
  after.accepted('m1', false)
  expect(new Outbox(storedOutbox(storage, 'outbox')).frames).toEqual([])
  expect(storage.length).toBe(0)
})

test('two tabs keep their frames beside each other, in their order', () => {
  const storage = openStorage()
  const one = new Outbox(storedOutbox(storage, 'outbox'))
  const other = new Outbox(storedOutbox(storage, 'outbox'))
  for (const id of ['m1', 'm2']) void one.add(message(id))
  void other.add(message('m3'))
  other.accepted('m3', false)
  const later = new Outbox(storedOutbox(storage, 'outbox'))
  expect(later.frames).toEqual([message('m1'), message('m2')])
  expect(new Outbox(storedOutbox(storage, 'out')).frames).toEqual([])
})

test('the refusal of a frame of an earlier page is told', () => {
  const storage = openStorage()
  void new Outbox(storedOutbox(storage, 'outbox')).add(message('m1'))
  const refusals: string[] = []
  const onRefused = (id: string, { message: why }: Error) => void refusals.push(`${id}: ${why}`)
  const after = new Outbox(storedOutbox(storage, 'outbox'), onRefused)
  after.refused('m1', new Error('too many'))
  expect(refusals).toEqual(['m1: too many'])
  expect(storage.length).toBe(0)
})
