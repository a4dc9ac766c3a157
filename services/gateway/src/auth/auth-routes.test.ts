import { expect, test } from 'vitest'
import { startFakeGateway } from '../http/__fixtures__/start-fake-gateway.ts'

test('a key whose name is blank or steers a terminal is refused: blank ones would be one principal', async () => {
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
  for (const name of ['a\nb', 'a\tb', 'a\u001B[2J', 'a\u202Eb', 'a\u2028b']) {
    const message = expect.stringContaining('must not have control characters')
    expect(await create(name)).toMatchObject([400, { error: { field: 'name', message } }])
  }
  expect(await create(' ci ')).toMatchObject([201, { name: 'ci', principal: 'key:ci' }])
})
