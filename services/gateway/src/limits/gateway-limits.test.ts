import type { Bus } from '@mcp-host/bus'
import type { Logger } from '@mcp-host/service'
import { RateLimits } from '@mcp-host/service'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { GatewayLimits } from './gateway-limits.ts'

test('limits are listed with what one principal has used of them', async () => {
  // All is counted in one window.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const sums = new Map<string, number>()
  const add = async (key: string, amount: number): Promise<number> => {
    sums.set(key, (sums.get(key) ?? 0) + amount)
    return sums.get(key) ?? 0
  }
  const rates = new RateLimits({
    // Limits use only the counter and the clock of the bus, and warnings of the logger.
    bus: { clock: { now: () => Date.now() }, counter: async () => ({ add }) } as unknown as Bus,
    logger: { warn: () => undefined } as unknown as Logger,
    metrics: new Registry(),
  })
  const perDay = (permits: number) => ({ permits, windowMs: 86_400_000 })
  const limits = new GatewayLimits(rates, {
    limitAddress: perDay(500),
    limitRequests: perDay(100),
    limitMessages: undefined,
    limitSessionMessages: undefined,
    limitToolCalls: perDay(20),
    limitTokens: undefined,
    limitSockets: 3,
    trustedProxies: [],
  })
  const caller = (id: string) => ({ id, roles: [], scopes: [] })
  for (let count = 0; count < 7; count++) await limits.request(caller('user:ann'))
  await limits.request(caller('user:bob'))
  expect(await limits.list('user:ann')).toEqual([
    { setting: 'LIMIT_ADDRESS', what: 'requests of an address', ...perDay(500) },
    { setting: 'LIMIT_REQUESTS', what: 'requests', ...perDay(100), used: 7 },
    { setting: 'LIMIT_MESSAGES', what: 'messages' },
    { setting: 'LIMIT_SESSION_MESSAGES', what: 'messages of a session' },
    { setting: 'LIMIT_TOOL_CALLS', what: 'tool calls', ...perDay(20), used: 0 },
    { setting: 'LIMIT_TOKENS', what: 'tokens' },
    {
      setting: 'LIMIT_SOCKETS',
      what: 'open sockets and streams at one gateway',
      permits: 3,
      used: 0,
    },
  ])
})
