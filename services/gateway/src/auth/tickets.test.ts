import type { Principal } from '@mcp-host/contracts'
import { LOCAL } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { FakeBus } from '../http/__fixtures__/fake-bus.ts'
import { Tickets } from './tickets.ts'

test('a ticket has the roles that its principal has when it is used', async () => {
  let present: Principal = { ...LOCAL, roles: ['admin'] }
  const tickets = new Tickets(new FakeBus().asBus(), { principalOf: () => present })
  const ticket = await tickets.issue({ kind: 'key', id: 'k' })
  present = { ...LOCAL, roles: ['user'] }
  expect((await tickets.redeem(ticket)).principal.roles).toEqual(['user'])
})

test('a ticket without a credential opens nothing', async () => {
  const tickets = new Tickets(new FakeBus().asBus(), { principalOf: () => LOCAL })
  const ticket = await tickets.issue(undefined)
  await expect(tickets.redeem(ticket)).rejects.toMatchObject({ fault: 'invalid_token' })
})
