import { beforeEach, expect, test } from 'vitest'
import { retryUntilListed } from './retry-until-listed.ts'

const failure = new Error('it is not listed')

let change: () => void
let recoveries: unknown[]
beforeEach(() => void (recoveries = []))
const listing = {
  onChange(listener: () => void): Disposable {
    change = listener
    return { [Symbol.dispose]: () => undefined }
  },
}
const options = {
  failure,
  isWorthIt: (error: unknown) => error === failure,
  onRecovered: (...recovery: unknown[]) => void recoveries.push(recovery),
}

test('a request that succeeds after a change of the listing is reported as recovered', async () => {
  let attempts = 0
  const attempt = (): string => {
    attempts += 1
    if (attempts === 1) throw failure
    return 'done'
  }
  const retried = retryUntilListed(listing, attempt, options)
  change()
  await Promise.resolve()
  await Promise.resolve()
  change()
  expect(await retried).toBe('done')
  expect(recoveries).toEqual([['placement', { afterMs: expect.any(Number) }]])
})

test('a request that fails otherwise after the change is not', async () => {
  const other = new Error('it fails')
  const retried = retryUntilListed(listing, () => Promise.reject(other), options)
  change()
  await expect(retried).rejects.toBe(other)
  expect(recoveries).toEqual([])
})
