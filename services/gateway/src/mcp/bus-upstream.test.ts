import type { Bus } from '@mcp-host/bus'
import { BusError, mcpRequest, resumeRequest } from '@mcp-host/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { BusUpstream } from './bus-upstream.ts'

const never = (): never => {
  throw new Error('nothing is to be sent')
}
// What cannot be sent uses nothing of it.
const upstream = new BusUpstream({ id: 'gateway-1', pass: never } as never)

const pass = (args: unknown): Promise<unknown> =>
  upstream.forward('s', { method: 'tools/call', params: { arguments: args }, era: 'legacy' })

test('parameters that cannot be written again are refused', async () => {
  let deep: unknown = 1
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]
  await expect(pass(deep)).rejects.toMatchObject({
    code: -32_602,
    message: expect.stringContaining('nested too deeply'),
  })
})

describe('parameters for which a message of the bus is too small', () => {
  const numbers = Array.from({ length: 100_000 }, () => 1e20)
  const put = async (body: Uint8Array): Promise<object> => {
    stored.push(JSON.parse(String(body)))
    return { key: 'k1' }
  }
  const remove = async (key: string): Promise<void> => void removed.push(key)
  const request = { method: 'tools/call', params: { numbers }, era: 'legacy' } as const
  let stored: unknown[]
  let removed: string[]
  beforeEach(() => {
    stored = []
    removed = []
  })

  test('are stored until the answer', async () => {
    const sent: unknown[] = []
    const bus = {
      id: 'gateway-1',
      blobs: { put, remove },
      callOpaque(...[, , { head, body }, , listener]: Parameters<Bus['callOpaque']>) {
        sent.push({ head, body }, [...removed])
        listener.onAnswer({ head: { type: 'result' }, body: new Uint8Array() })
      },
    }
    await new BusUpstream(bus as never).forward('s', request)
    expect(stored).toEqual([{ numbers }])
    expect(sent).toMatchObject([{ head: { stored: 'k1' }, body: '' }, []])
    expect(removed).toEqual(['k1'])
  })

  test('that cannot be stored are an error that says whether to try again', async () => {
    const blobs = { put: () => Promise.reject(new BusError('unavailable', 'no broker')), remove }
    const bus = { id: 'gateway-1', blobs, pass: never }
    await expect(new BusUpstream(bus as never).forward('s', request)).rejects.toMatchObject({
      code: -32_000,
      data: { retryable: true },
    })
    expect(removed).toEqual([])
  })
})

test('a request for a server that was removed from the configuration is refused at once', async () => {
  let asked = 0
  const bus = {
    id: 'gateway-1',
    callOpaque(...[, , , , listener]: Parameters<Bus['callOpaque']>) {
      asked++
      listener.onFailure(new BusError('unavailable', 'nobody answers'))
    },
  }
  const to = new BusUpstream(bus as never, (server) => server !== 's')
  await expect(
    to.forward('s', { method: 'tools/call', params: {}, era: 'legacy' }),
  ).rejects.toMatchObject({
    code: -32_602,
    data: { reason: 'removed', retryable: false },
  })
  expect(asked).toBe(1)
})

describe('when the supervisor with the request is silent', () => {
  const fault = { code: -32_000, data: { reason: 'unknown-outcome', retryable: false } }

  const answered = { head: { type: 'result' }, body: new TextEncoder().encode('{}') }

  /** Each question is lost, but for the last. */
  function losing(lost: number) {
    const asked: unknown[] = []
    const bus = {
      id: 'gateway-1',
      emit: () => undefined,
      callOpaque(...[, , question, , listener]: Parameters<Bus['callOpaque']>) {
        asked.push(question)
        if (asked.length > lost) listener.onAnswer(answered)
        else listener.onFailure(new BusError('deadline', 'no answer in time'))
      },
    }
    return { asked, bus, upstream: new BusUpstream(bus as never) }
  }
  const request = { method: 'tools/call', params: {}, era: 'legacy' } as const

  test('a request is never sent again', async () => {
    const { asked, upstream: to } = losing(1)
    await expect(to.forward('s', request)).rejects.toMatchObject(fault)
    expect(asked).toHaveLength(1)
  })

  test('what only reads is sent once more when the supervisor that kept it for its session is gone', async () => {
    const asked: string[] = []
    const bus = {
      id: 'gateway-1',
      emit: () => undefined,
      callOpaque(...[{ subject }, , , , listener]: Parameters<Bus['callOpaque']>) {
        asked.push(subject)
        if (asked.length === 1) {
          listener.onAnswer({ head: { type: 'kept', supervisor: 's1' }, body: new Uint8Array() })
          listener.onFailure(new BusError('deadline', 'no answer in time'))
        } else if (subject === resumeRequest.subject) {
          listener.onFailure(new BusError('unavailable', 'nobody answers'))
        } else listener.onAnswer(answered)
      },
    }
    const inSession = { ...request, client: { id: 'c', capabilities: {} } }
    const to = new BusUpstream(bus as never)
    expect((await to.forward('s', { ...inSession, isReadOnly: true })).type).toBe('result')
    expect(asked).toEqual([mcpRequest.subject, resumeRequest.subject, mcpRequest.subject])
    asked.length = 0
    await expect(to.forward('s', inSession)).rejects.toMatchObject(fault)
    expect(asked).toEqual([mcpRequest.subject, resumeRequest.subject])
  })

  test('what only reads is sent once more', async () => {
    const { asked, upstream: to } = losing(1)
    const forwarded = await to.forward('s', { ...request, isReadOnly: true })
    expect([forwarded.type, asked.length]).toEqual(['result', 2])
    const { asked: twice, upstream: silent } = losing(2)
    await expect(silent.forward('s', { ...request, isReadOnly: true })).rejects.toMatchObject(fault)
    expect(twice).toHaveLength(2)
  })

  test.each([
    ['is frozen', 'deadline', 1],
    ['was killed', 'unavailable', 2],
  ] as const)(
    'what only reads is asked once more only if the supervisor was killed: it %s',
    async (_, code, times) => {
      const { asked, bus } = losing(1)
      const call = async (
        _contract: unknown,
        { supervisor }: { supervisor: string },
      ): Promise<object> => {
        if (supervisor === 's1') throw new BusError(code, 'no answer')
        return {}
      }
      const to = new BusUpstream(
        { ...bus, call } as never,
        () => true,
        () => ['s1', 's2'],
      )
      const forwarded = to
        .forward('s', { ...request, isReadOnly: true })
        .catch((error: unknown) => error)
      if (code === 'deadline') expect(await forwarded).toMatchObject(fault)
      else expect(await forwarded).toMatchObject({ type: 'result' })
      expect(asked).toHaveLength(times)
    },
  )
})
