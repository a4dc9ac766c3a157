import type { Bus } from '@mcp-host/bus'
import { BusError, mcpRequest, resumeRequest } from '@mcp-host/contracts'
import type { JsonRpcError } from '@mcp-host/mcp-endpoint'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { BusServers } from './bus-servers.ts'

const never = (): never => {
  throw new Error('nothing may be sent')
}

let recoveries: unknown[]
beforeEach(() => void (recoveries = []))

/** Servers over a fake bus that has only the members which the test uses. */
const serversOver = (
  bus: object,
  isConfigured = (_server: string): boolean => true,
  supervisors = (): readonly string[] => [],
  pauseServer = (_server: string): void => undefined,
): BusServers =>
  new BusServers({
    bus: bus as Bus,
    isConfigured,
    supervisors,
    pauseServer,
    onRecovered: (by, about) => recoveries.push([by, about]),
  })
const servers = serversOver({ id: 'gateway-1', pass: never })

const send = (args: unknown): Promise<unknown> =>
  servers.send('s', { method: 'tools/call', params: { arguments: args }, era: 'legacy' })

test('parameters that cannot be serialized are refused', async () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  await expect(send(deep)).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('nested too deeply'),
  })
})

describe('parameters that are too large for a message of the bus', () => {
  const numbers = Array.from({ length: 100_000 }, () => 1e20)
  const put = async (body: Uint8Array): Promise<object> => {
    stored.push(JSON.parse(String(body)))
    return { key: 'k1', digest: 'd1' }
  }
  const remove = async (key: string): Promise<void> => void removed.push(key)
  const request = { method: 'tools/call', params: { numbers }, era: 'legacy' } as const
  let stored: unknown[]
  let removed: string[]
  beforeEach(() => {
    stored = []
    removed = []
  })

  test('large parameters are stored until the answer', async () => {
    const sent: unknown[] = []
    const bus = {
      id: 'gateway-1',
      blobs: { put, remove },
      callOpaque(...[, , { head, body }, , listener]: Parameters<Bus['callOpaque']>) {
        sent.push({ head, body }, [...removed])
        listener.onAnswer({ head: { type: 'result' }, body: new Uint8Array() })
      },
    }
    await serversOver(bus).send('s', request)
    expect(stored).toEqual([{ numbers }])
    expect(sent).toMatchObject([{ head: { stored: 'k1', digest: 'd1' }, body: '' }, []])
    expect(removed).toEqual(['k1'])
  })

  test('large parameters that cannot be stored fail with a retryable error', async () => {
    const blobs = { put: () => Promise.reject(new BusError('unavailable', 'no broker')), remove }
    const bus = { id: 'gateway-1', blobs, pass: never }
    await expect(serversOver(bus).send('s', request)).rejects.toMatchObject({
      code: -32_000,
      data: { retryable: true },
    })
    expect(removed).toEqual([])
  })
})

test('a request for a server that was removed from the configuration is refused at once', async () => {
  let requests = 0
  const bus = {
    id: 'gateway-1',
    callOpaque(...[, , , , listener]: Parameters<Bus['callOpaque']>) {
      requests++
      listener.onFailure(new BusError('unavailable', 'nobody answers'))
    },
  }
  const to = serversOver(bus, (server) => server !== 's')
  await expect(
    to.send('s', { method: 'tools/call', params: {}, era: 'legacy' }),
  ).rejects.toMatchObject({
    code: -32_602,
    data: { reason: 'removed', retryable: false },
  })
  expect(requests).toBe(1)
})

test.each<[string, readonly string[], number, string]>([
  ['while another supervisor may take it over', ['s2'], 15, 'result'],
  ['not so long without any', [], 15, 'unavailable'],
  ['up to a limit', ['s2'], 40, 'unavailable'],
])('a request waits for its server, %s', async (_, supervisors, seconds, outcome) => {
  // Each attempt takes four seconds.
  let now = 0
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const bus = {
    id: 'gateway-1',
    callOpaque(...[, , , , listener]: Parameters<Bus['callOpaque']>) {
      now += 4_000
      if (now >= seconds * 1_000)
        listener.onAnswer({ head: { type: 'result' }, body: new Uint8Array() })
      else listener.onFailure(new BusError('unavailable', 'nobody answers'))
    },
  }
  const reply = serversOver(
    bus,
    () => true,
    () => supervisors,
  )
    .send('s', { method: 'tools/call', params: {}, era: 'legacy' })
    .then(
      ({ type }) => type,
      (error: JsonRpcError) => (error.data as { reason: string }).reason,
    )
  expect(await reply).toBe(outcome)
  const recovered = [['placement', { server: 's', afterMs: expect.any(Number) }]]
  expect(recoveries).toEqual(outcome === 'result' ? recovered : [])
})

describe('requests whose supervisor is silent', () => {
  const fault = { code: -32_000, data: { reason: 'unknown-outcome', retryable: false } }

  const answered = { head: { type: 'result' }, body: new TextEncoder().encode('{}') }

  /** Servers that lose the first requests. */
  function losing(lost: number) {
    const requests: unknown[] = []
    const bus = {
      id: 'gateway-1',
      emit: () => undefined,
      sinceOutageMs: () => Infinity,
      callOpaque(...[, , request, , listener]: Parameters<Bus['callOpaque']>) {
        requests.push(request)
        if (requests.length > lost) listener.onAnswer(answered)
        else listener.onFailure(new BusError('deadline', 'no answer in time'))
      },
    }
    return { requests, bus, servers: serversOver(bus) }
  }
  const call = { method: 'tools/call', params: {}, era: 'legacy' } as const

  test('a request that may change something is not retried', async () => {
    const { requests, servers: to } = losing(1)
    await expect(to.send('s', call)).rejects.toMatchObject(fault)
    expect(requests).toHaveLength(1)
  })

  test('a read-only request of a session is retried when its supervisor is gone', async () => {
    const subjects: string[] = []
    const bus = {
      id: 'gateway-1',
      emit: () => undefined,
      callOpaque(...[{ subject }, , , , listener]: Parameters<Bus['callOpaque']>) {
        subjects.push(subject)
        if (subjects.length === 1) {
          listener.onAnswer({ head: { type: 'kept', supervisor: 's1' }, body: new Uint8Array() })
          listener.onFailure(new BusError('deadline', 'no answer in time'))
        } else if (subject === resumeRequest.subject) {
          listener.onFailure(new BusError('unavailable', 'nobody answers'))
        } else listener.onAnswer(answered)
      },
    }
    const inSession = { ...call, client: { id: 'c', capabilities: {} } }
    const to = serversOver(bus)
    expect((await to.send('s', { ...inSession, isReadOnly: true })).type).toBe('result')
    expect(subjects).toEqual([mcpRequest.subject, resumeRequest.subject, mcpRequest.subject])
    subjects.length = 0
    await expect(to.send('s', inSession)).rejects.toMatchObject(fault)
    expect(subjects).toEqual([mcpRequest.subject, resumeRequest.subject])
  })

  test('a read-only request is retried once', async () => {
    const { requests, servers: to } = losing(1)
    const reply = await to.send('s', { ...call, isReadOnly: true })
    expect([reply.type, requests.length]).toEqual(['result', 2])
    expect(recoveries).toMatchObject([['bus', { server: 's' }]])
    const { requests: retried, servers: silent } = losing(2)
    await expect(silent.send('s', { ...call, isReadOnly: true })).rejects.toMatchObject({
      ...fault,
      message: expect.stringContaining('and again when the request was repeated'),
    })
    expect(retried).toHaveLength(2)
  })

  test.each([
    ['without an outage', Infinity, ['s']],
    ['soon after an outage', 20_000, []],
  ])(
    'a read-only request that is lost twice %s pauses its server: %s',
    async (_, outageMs, paused) => {
      const pauses: string[] = []
      const bus = { ...losing(2).bus, sinceOutageMs: () => outageMs }
      const to = serversOver(bus, undefined, undefined, (server) => pauses.push(server))
      await expect(to.send('s', { ...call, isReadOnly: true })).rejects.toMatchObject(fault)
      expect(pauses).toEqual(paused)
    },
  )

  test.each([
    ['is frozen', 'deadline', 1],
    ['was killed', 'unavailable', 2],
  ] as const)(
    'a read-only request is retried only if its supervisor was killed: it %s',
    async (_, code, times) => {
      const { requests, bus } = losing(1)
      const probe = async (
        _contract: unknown,
        { supervisor }: { supervisor: string },
      ): Promise<object> => {
        if (supervisor === 's1') throw new BusError(code, 'no answer')
        return {}
      }
      const to = serversOver(
        { ...bus, call: probe },
        () => true,
        () => ['s1', 's2'],
      )
      const reply = to.send('s', { ...call, isReadOnly: true }).catch((error: unknown) => error)
      if (code === 'deadline') expect(await reply).toMatchObject(fault)
      else expect(await reply).toMatchObject({ type: 'result' })
      expect(requests).toHaveLength(times)
    },
  )
})
