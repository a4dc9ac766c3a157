import { beforeEach, expect, test } from 'vitest'
import { Loader } from './loader.ts'

let reads: PromiseWithResolvers<number>[]
let faults: string[]
let loader: Loader<number>
beforeEach(() => {
  reads = []
  faults = []
  const read = (): Promise<number> => {
    const one = Promise.withResolvers<number>()
    reads.push(one)
    return one.promise
  }
  loader = new Loader(read, ({ message }) => void faults.push(message))
})

const refuse = (message: string) => () => Promise.reject(new Error(message))

test('only the latest read counts, whichever is answered last', async () => {
  const [first, second, third] = [loader.reload(), loader.reload(), loader.reload()]
  reads[2]?.resolve(3)
  await third
  reads[0]?.resolve(1)
  reads[1]?.reject(new Error('too late'))
  await Promise.all([first, second])
  expect(loader.state.get()).toMatchObject({ value: 3, readFault: undefined })
  expect(faults).toEqual(['too late'])
})

test('a read that succeeds clears the fault of the one before, and keeps that of an action', async () => {
  expect(await loader.act(refuse('not allowed'))).toBe(false)
  const failed = loader.reload()
  reads[0]?.reject(new Error('no host'))
  await failed
  const { actionFault, readFault } = loader.state.get()
  expect([actionFault?.message, readFault?.message]).toEqual(['not allowed', 'no host'])
  const polled = loader.reload()
  reads[1]?.resolve(1)
  await polled
  const after = loader.state.get()
  expect([after.actionFault?.message, after.readFault]).toEqual(['not allowed', undefined])
})

test('an action that succeeds clears the fault of the one before, and the value is read again', async () => {
  await loader.act(refuse('not allowed'))
  const acted = loader.act(async () => undefined)
  await Promise.resolve()
  await Promise.resolve()
  reads[0]?.resolve(7)
  expect(await acted).toBe(true)
  expect(loader.state.get()).toEqual({ value: 7, readFault: undefined, actionFault: undefined })
})

test('an action that succeeded stays one when the value cannot be read again', async () => {
  const acted = loader.act(async () => undefined)
  await Promise.resolve()
  await Promise.resolve()
  reads[0]?.reject(new Error('no host'))
  expect(await acted).toBe(true)
  expect(loader.state.get().readFault?.message).toBe('no host')
})
