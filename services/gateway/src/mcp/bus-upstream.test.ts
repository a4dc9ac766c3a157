import { expect, test } from 'vitest'
import { BusUpstream } from './bus-upstream.ts'

const never = async (): Promise<never> => {
  throw new Error('nothing is to be sent')
}
// What cannot be sent uses nothing of it.
const upstream = new BusUpstream({ id: 'gateway-1', pass: never } as never)

const pass = (args: unknown): Promise<unknown> =>
  upstream.pass('s', { method: 'tools/call', params: { arguments: args }, era: 'legacy' })

test('parameters that cannot be written again are refused', async () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  await expect(pass(deep)).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('nested too deeply'),
  })
})

test('parameters that grow beyond a message of the bus are refused, with the limit', async () => {
  const numbers = Array.from({ length: 100_000 }, () => 1e20)
  await expect(pass(numbers)).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('more than the 1000000'),
  })
})
