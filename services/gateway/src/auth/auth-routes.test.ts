import { expect, test } from 'vitest'
import { startFakeGateway } from '../http/__fixtures__/start-fake-gateway.ts'

test('a key whose name is blank is refused: all such keys would be one principal', async () => {
  await using gateway = await startFakeGateway()
  const create = async (name: string) => {
    const response = await fetch(`${gateway.url}/api/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    return [response.status, await response.json()] as const
  }
  expect(await create(' ')).toMatchObject([400, { error: { field: 'name' } }])
  expect(await create(' ci ')).toMatchObject([201, { name: 'ci', principal: 'key:ci' }])
})
