import { BusError } from '@mcp-host/contracts'
import type { FastifyReply } from 'fastify'
import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { Attempts } from './attempts.ts'
import type { PasswordRoutesDeps } from './password-routes.ts'
import { addPasswordRoutes } from './password-routes.ts'

test('a login that ends with a fault of the store uses up no limit', async () => {
  const sums = new Map<string, number>()
  const add = async (key: string, amount: number): Promise<number> => {
    sums.set(key, (sums.get(key) ?? 0) + amount)
    return sums.get(key) ?? 0
  }
  let isDown = true
  const accounts = {
    find: () => undefined,
    read: async () => {
      if (isDown) throw new BusError('unavailable', 'nats-server does not answer')
    },
  }
  await using app = fastify()
  const deps = {
    accounts,
    attempts: new Attempts(Promise.resolve({ add }), { now: () => Date.now() }),
    addressOf: () => '10.0.0.1',
    audit: { credentialRefused: () => undefined },
    sendForm: async (reply: FastifyReply, { fault }: { fault: string }) => reply.send(fault),
    // These routes use only these members.
  } as unknown as PasswordRoutesDeps
  const form = 'application/x-www-form-urlencoded'
  app.addContentTypeParser(form, { parseAs: 'string' }, async (_: unknown, body: string) => {
    return new URLSearchParams(body)
  })
  addPasswordRoutes(app, deps)
  const logIn = async (): Promise<number> => {
    const payload = 'name=ann&password=wrong'
    const request = {
      method: 'POST',
      url: '/login',
      headers: { 'content-type': form },
      payload,
    } as const
    return (await app.inject(request)).statusCode
  }
  for (let round = 0; round < 6; round++) expect(await logIn()).toBe(500)
  expect(Array.from(sums.values())).toEqual([0, 0, 0])
  isDown = false
  for (let round = 0; round < 5; round++) expect(await logIn()).toBe(401)
  expect(await logIn()).toBe(429)
})
