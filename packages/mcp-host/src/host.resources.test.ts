import { describe, expect, test, vi } from 'vitest'

import { eventually } from '../test/eventually.ts'
import { HostStage } from '../test/host-stage.ts'
import type { Workspace } from '../test/workspace.ts'
import {
  type CacheableOptions,
  type GetPromptResult,
  type HostEvent,
  type MCPHostOptions,
  ProtocolError,
  type ReadResourceResult,
  type StdioServerConfig,
} from './index.ts'

const CACHE = 'mcp-host/cache'

const library = (workspace: Workspace, shelf: object): StdioServerConfig =>
  workspace.fixture('library', JSON.stringify(shelf))

/** One server for each shelf; see the fixture `library`. */
const start = (
  shelves: Record<string, object>,
  options: Partial<MCPHostOptions> = {},
): Promise<HostStage> =>
  HostStage.start(
    (workspace) =>
      Object.fromEntries(
        Object.entries(shelves).map(([name, shelf]) => [name, library(workspace, shelf)]),
      ),
    options,
  )

function told({ messages: [message] }: GetPromptResult): string {
  return message?.content.type === 'text' ? message.content.text : ''
}

function read({ contents: [content] }: ReadResourceResult): string {
  return content !== undefined && 'text' in content ? content.text : ''
}

/** What was read and how it came, as in `a: 1 hit`. */
async function readMarked(
  stage: HostStage,
  uri: string,
  options: CacheableOptions = {},
): Promise<string> {
  const result = await stage.host.getResource(uri, options)
  const mark = result._meta?.[CACHE]
  return typeof mark === 'string' ? `${read(result)} ${mark}` : read(result)
}

const order = (stage: HostStage, what: string, about?: string): Promise<string> =>
  stage.say('it.do', { order: what, what: about })

describe('the lists', () => {
  test('of prompts, resources and templates have the items of all pages, as received', async () => {
    const stage = await start({
      it: {
        prompts: ['p', 'q', 'r'],
        uris: ['a:', 'b:', 'c:', 'd:', 'e:'],
        templates: ['t://{x}'],
      },
    })
    const { prompts, resources, resourceTemplates, instructions } = stage.find('it')
    expect(prompts.map(({ name }) => name)).toEqual(['p', 'q', 'r'])
    expect(prompts[0]).toEqual({ name: 'p', 'x-kept': true })
    expect(resources.map(({ uri }) => uri)).toEqual(['a:', 'b:', 'c:', 'd:', 'e:'])
    expect(resources[0]).toEqual({ uri: 'a:', name: 'a:', 'x-kept': true })
    expect(resourceTemplates).toEqual([{ uriTemplate: 't://{x}', name: 't://{x}' }])
    expect(instructions).toBe('Read quietly.')
    expect(stage.find('it')).toMatchObject({ era: 'legacy', protocolVersion: '2025-06-18' })
  })

  test('are not asked for when the server does not have such things', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    expect(stage.find('it')).toMatchObject({ prompts: [], resources: [], resourceTemplates: [] })
    expect(stage.lines('could not be read')).toEqual([])
  })

  test('of resources are there when the server does not know templates', async () => {
    const stage = await start({ it: { uris: ['a:'], templates: null } })
    expect(stage.find('it')).toMatchObject({ resources: [{ uri: 'a:' }], resourceTemplates: [] })
    expect(stage.lines('could not be read')).toEqual([])
  })

  test('are read again when the server says so, and an event tells of it', async () => {
    const stage = await start({ it: { prompts: ['p'], uris: ['a:'] } })
    const changed: string[] = []
    stage.host.on('list-changed', ({ server, list }) => changed.push(`${server} ${list}`))
    await order(stage, 'add-prompt', 'new')
    await order(stage, 'add-resource', 'new:')
    await eventually(() => stage.find('it').prompts.length === 2)
    await eventually(() => stage.find('it').resources.length === 2)
    expect(changed.toSorted()).toEqual(['it prompts', 'it resources'])
    expect(told(await stage.host.getPrompt('it.new'))).toContain('new')
    expect(read(await stage.host.getResource('new:'))).toContain('new:')
  })
})

describe('a prompt', () => {
  test('is found by its name or the pair, and passed on as received', async () => {
    const stage = await start({ one: { prompts: ['p.q'] }, two: { prompts: ['p.q'] } })
    const result = await stage.host.getPrompt('two.p.q', { a: '1' })
    expect(result).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'p.q {"a":"1"} 1' } }],
      'x-kept': true,
    })
    expect(told(await stage.host.getPrompt({ server: 'one', prompt: 'p.q' }))).toBe('p.q {} 1')
  })

  test('that nobody has is a fault of the request', async () => {
    const stage = await start({ it: { prompts: ['p'] } })
    await expect(stage.host.getPrompt('it.q', {}, { requestId: 'r' })).rejects.toMatchObject({
      code: 'validation',
      message: 'there is no prompt "it.q"',
      requestId: 'r',
    })
    const elsewhere = { server: 'other', prompt: 'p' }
    await expect(stage.host.getPrompt(elsewhere)).rejects.toThrow('there is no server "other"')
  })

  test('in a malformed answer is a fault of the protocol', async () => {
    const stage = await start({ it: { prompts: ['broken'] } })
    await expect(stage.host.getPrompt('it.broken')).rejects.toMatchObject({
      name: 'ProtocolError',
      server: 'it',
      message: 'it.broken answered with a malformed result',
    })
  })

  test('is cached by its arguments, in whatever order these come', async () => {
    const stage = await start({ it: { prompts: ['p'] } })
    const get = async (args: Record<string, string>): Promise<unknown> => {
      const { _meta: meta } = await stage.host.getPrompt('it.p', args)
      return meta?.[CACHE]
    }
    expect(await get({ a: '1', b: '2' })).toBeUndefined()
    expect(await get({ b: '2', a: '1' })).toBe('hit')
    expect(await get({ a: '1', b: '3' })).toBeUndefined()
    await order(stage, 'add-prompt', 'new')
    await eventually(() => stage.find('it').prompts.length === 2)
    expect(await get({ a: '1', b: '2' })).toBeUndefined()
  })
})

describe('a resource', () => {
  test('is found by its URI, by a template that it fits, or by the pair', async () => {
    const stage = await start({
      one: { uris: ['a:1'] },
      two: { uris: ['a:2'], templates: ['b://{x}/c'] },
    })
    await stage.host.getResource('a:1')
    expect(read(await stage.host.getResource('a:2'))).toBe('a:2 1')
    expect(read(await stage.host.getResource('b://any/c'))).toBe('b://any/c 2')
    expect(read(await stage.host.getResource({ server: 'one', uri: 'not:listed' }))).toBe(
      'not:listed 2',
    )
  })

  test('is passed on as received', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    expect(await stage.host.getResource('a:')).toEqual({
      contents: [{ uri: 'a:', text: 'a: 1' }],
      'x-kept': true,
    })
  })

  test('that several servers have is asked for with the name of one', async () => {
    const uri = 'a://b/c d?e'
    const stage = await start({ one: { uris: [uri] }, two: { uris: [uri] } })
    const address = `mcp://two/${encodeURIComponent(uri)}`
    await expect(stage.host.getResource(uri)).rejects.toMatchObject({
      code: 'validation',
      message: `the resource "${uri}" may be meant of "one", "two": ask for one, as mcp://one/${encodeURIComponent(uri)}`,
    })
    await stage.host.getResource({ server: 'one', uri })
    await stage.host.getResource({ server: 'one', uri }, { cache: 'refresh' })
    expect(read(await stage.host.getResource(address))).toBe(`${uri} 1`)
  })

  test('that no server can have is a fault of the request', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    await expect(stage.host.getResource('a:', { requestId: 'r' })).rejects.toMatchObject({
      code: 'validation',
      message: 'there is no resource "a:"',
      requestId: 'r',
    })
  })

  test('that its server refuses, or answers malformed, is a fault of the protocol', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    await expect(stage.host.getResource('none:')).rejects.toMatchObject({
      name: 'ProtocolError',
      rpcCode: -32_002,
    })
    await expect(stage.host.getResource('broken:')).rejects.toThrow('malformed result')
  })
})

describe('the cache', () => {
  test('answers until the time is up, and says so on the result', async () => {
    const stage = await start({ it: { uris: ['a:'] } }, { cache: { ttlMs: 1000 } })
    vi.useFakeTimers({ toFake: ['performance'] })
    expect(await readMarked(stage, 'a:')).toBe('a: 1')
    await vi.advanceTimersByTimeAsync(999)
    expect(await readMarked(stage, 'a:')).toBe('a: 1 hit')
    await vi.advanceTimersByTimeAsync(1)
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
  })

  test('is passed by, or refreshed, where the caller asks for it', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:', { cache: 'bypass' })).toBe('a: 2')
    expect(await readMarked(stage, 'a:')).toBe('a: 1 hit')
    expect(await readMarked(stage, 'a:', { cache: 'refresh' })).toBe('a: 3')
    expect(await readMarked(stage, 'a:')).toBe('a: 3 hit')
  })

  test('can be left out', async () => {
    const stage = await start({ it: { uris: ['a:'] } }, { cache: false })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
  })

  test('keeps no more than it may', async () => {
    const stage = await start({ it: { uris: ['a:', 'b:'] } }, { cache: { maxEntries: 1 } })
    await readMarked(stage, 'a:')
    await readMarked(stage, 'b:')
    expect(await readMarked(stage, 'a:')).toBe('a: 3')
  })

  test('believes a server that says how long an answer is good', async () => {
    const stage = await start({ it: { uris: ['a:'], ttlMs: 0 } })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
  })

  test('forgets what its server says has changed, and nothing else', async () => {
    const stage = await start({ it: { uris: ['a:', 'b:'] } })
    await readMarked(stage, 'a:')
    await readMarked(stage, 'b:')
    await order(stage, 'update', 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 3')
    expect(await readMarked(stage, 'b:')).toBe('b: 2 hit')
    await order(stage, 'add-resource', 'c:')
    await eventually(() => stage.find('it').resources.length === 3)
    expect(await readMarked(stage, 'b:')).toBe('b: 4')
  })

  test('answers with what is out of date while the server is away, and says so', async () => {
    const stage = await start(
      { it: { uris: ['a:', 'b:'], prompts: ['p'] } },
      { cache: { ttlMs: 0.001 } },
    )
    await readMarked(stage, 'a:')
    await stage.host.getPrompt('it.p')
    await order(stage, 'exit').catch(() => undefined)
    expect(stage.find('it').state).toBe('unavailable')
    expect(await readMarked(stage, 'a:')).toBe('a: 1 stale')
    expect(await readMarked(stage, 'a:', { cache: 'refresh' })).toBe('a: 1 stale')
    expect((await stage.host.getPrompt('it.p'))._meta).toEqual({ [CACHE]: 'stale' })
    const options = { cache: 'bypass', requestId: 'r' } as const
    await expect(stage.host.getResource('a:', options)).rejects.toMatchObject({
      code: 'server-unavailable',
      requestId: 'r',
    })
    await expect(stage.host.getResource('b:')).rejects.toMatchObject({ code: 'server-unavailable' })
  })

  test('answers so at once, also while its server is about to be restarted', async () => {
    const stage = await HostStage.start(
      (workspace) => ({
        it: { ...library(workspace, { uris: ['a:'] }), restart: { policy: 'on-failure' } },
      }),
      { cache: { ttlMs: 0.001 } },
    )
    await readMarked(stage, 'a:')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await order(stage, 'exit').catch(() => undefined)
    await eventually(() => stage.lines('will be restarted').length > 0)
    expect(await readMarked(stage, 'a:')).toBe('a: 1 stale')
    expect(stage.find('it').state).toBe('unavailable')
  })

  test('holds what the server said, whatever a caller makes of it', async () => {
    const stage = await start({ it: { uris: ['a:'], prompts: ['p'] } })
    for (const _ of [1, 2, 3]) {
      const result = await stage.host.getResource('a:')
      expect(result.contents).toEqual([{ uri: 'a:', text: 'a: 1' }])
      Object.assign(result.contents[0] ?? {}, { text: 'edited' })
      result.contents.push({ uri: 'added:', text: '' })
      const { messages } = await stage.host.getPrompt('it.p')
      expect(messages).toHaveLength(1)
      messages.pop()
    }
  })

  test('forgets what its server says has changed also when the list cannot be read again', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 1 hit')
    await order(stage, 'break-list')
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
    await eventually(() => stage.lines('could not be read').length > 0)
    expect(stage.find('it')).toMatchObject({ state: 'ready', resources: [{ uri: 'a:' }] })
  })

  test('does not keep an answer from before a change', async () => {
    const stage = await start({ it: { uris: ['held:'] } })
    const reading = stage.host.getResource('held:')
    await eventually(async () => (await order(stage, 'heard')) === 'held')
    await order(stage, 'update', 'held:')
    await order(stage, 'release')
    expect(read(await reading)).toBe('held')
    const again = stage.host.getResource('held:')
    await eventually(async () => (await order(stage, 'heard')) === 'held,held')
    await order(stage, 'release')
    expect((await again)._meta).toBeUndefined()
  })

  test('does not keep for a server what the one before it answered late', async () => {
    const stage = await start({ it: { uris: ['held:'] } })
    const { host, workspace } = stage
    const old = stage.find('it').pid ?? 0
    const reading = host.getResource('held:')
    await eventually(async () => (await order(stage, 'heard')) === 'held')
    await host.reload({ servers: { it: library(workspace, { uris: ['held:', 'b:'] }) } })
    process.kill(old, 'SIGUSR2')
    expect(read(await reading)).toBe('held')
    const fresh = host.getResource('held:')
    await eventually(async () => (await order(stage, 'heard')) === 'held')
    await order(stage, 'release')
    expect((await fresh)._meta).toBeUndefined()
  })

  test('of one server is not that of another, nor of what takes its place', async () => {
    const stage = await start({ one: { uris: ['a:'] }, two: { uris: ['a:'] } })
    const of = (server: string): Promise<ReadResourceResult> =>
      stage.host.getResource({ server, uri: 'a:' })
    await of('one')
    expect((await of('two'))._meta).toBeUndefined()
    await stage.host.reload({
      servers: {
        one: library(stage.workspace, { uris: ['a:', 'b:'] }),
        two: library(stage.workspace, { uris: ['a:'] }),
      },
    })
    expect((await of('one'))._meta).toBeUndefined()
    expect((await of('two'))._meta).toEqual({ [CACHE]: 'hit' })
  })
})

describe('a completion', () => {
  const argument = { name: 'x', value: 'v' }

  test('asks the server that has the prompt or the template, in its own words', async () => {
    const stage = await start({
      one: { prompts: ['p'], uris: ['z:'] },
      two: { prompts: ['p'], templates: ['t://{x}'] },
    })
    const complete = async (ref: Parameters<typeof stage.host.complete>[0]['ref']) => {
      const { completion } = await stage.host.complete({ ref, argument, context: {} })
      return JSON.parse(completion.values[0] ?? '')
    }
    expect(await complete({ type: 'ref/prompt', name: 'two.p' })).toMatchObject({
      ref: { type: 'ref/prompt', name: 'p' },
      argument,
      context: {},
    })
    expect(await complete({ type: 'ref/resource', uri: 't://{x}' })).toMatchObject({
      ref: { type: 'ref/resource', uri: 't://{x}' },
    })
    expect(stage.host.getMetrics().servers['two']?.tools['completion/complete']).toMatchObject({
      success: 2,
    })
  })

  test('of what is not there, or in a malformed answer, is an error', async () => {
    const stage = await start({ it: { prompts: ['p', 'broken'] } })
    const complete = (name: string): Promise<unknown> =>
      stage.host.complete({ ref: { type: 'ref/prompt', name }, argument })
    await expect(complete('it.q')).rejects.toMatchObject({ code: 'validation' })
    await expect(complete('it.broken')).rejects.toBeInstanceOf(ProtocolError)
  })
})

describe('a subscription', () => {
  test('tells of changes until it is ended, and outlives a restart', async () => {
    const stage = await start({ it: { uris: ['a:', 'b:'] } })
    const { signal } = new AbortController()
    const updates = stage.host.events({ signal, types: ['resource-updated'] })
    await stage.host.subscribe('a:')
    await stage.host.subscribe({ server: 'it', uri: 'b:' })
    await stage.host.unsubscribe('b:')
    expect(await order(stage, 'heard')).toBe('subscribe a:,subscribe b:,unsubscribe b:')
    await order(stage, 'update', 'a:')
    expect((await updates.next()).value).toEqual({
      type: 'resource-updated',
      server: 'it',
      uri: 'a:',
    })
    await stage.host.restart('it')
    expect(await order(stage, 'heard')).toBe('subscribe a:')
  })

  test('that the server refuses, or that is not there, is an error of the host', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    await expect(stage.host.subscribe('none:')).rejects.toMatchObject({
      name: 'ProtocolError',
      server: 'it',
      rpcCode: -32_002,
    })
    await expect(stage.host.subscribe({ server: 'no', uri: 'a:' })).rejects.toThrow(
      'no server "no"',
    )
    await stage.host.restart('it')
    // What was refused is not asked for again.
    expect(await order(stage, 'heard')).toBe('')
  })
})

describe('the logging level', () => {
  test('is told to one server, or to all that are ready', async () => {
    const stage = await start({ it: {}, other: {} })
    await stage.host.setLoggingLevel('debug', 'it')
    await stage.host.setLoggingLevel('error')
    expect(await order(stage, 'heard')).toBe('level debug,level error')
    expect(await stage.say('other.do', { order: 'heard' })).toBe('level error')
    await stage.host.restart('it')
    expect(await order(stage, 'heard')).toBe('level error')
    await expect(stage.host.setLoggingLevel('info', 'no')).rejects.toThrow('no server "no"')
  })

  test('means nothing to a server without log messages', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    await stage.host.setLoggingLevel('debug')
    expect(stage.find('it').state).toBe('ready')
  })
})

test('events tell what servers send by themselves', async () => {
  const stage = await start({ it: {} })
  const events: HostEvent[] = []
  for (const type of ['log', 'elicitation-complete'] as const) {
    stage.host.on(type, (event) => events.push(event))
  }
  await order(stage, 'log', 'words')
  await order(stage, 'done', 'form-1')
  expect(events).toEqual([
    { type: 'log', server: 'it', level: 'warning', logger: 'shelf', data: 'words' },
    { type: 'elicitation-complete', server: 'it', elicitationId: 'form-1' },
  ])
})
