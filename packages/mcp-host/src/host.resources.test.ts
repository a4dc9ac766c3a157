import { describe, expect, test, vi } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { HostStage } from '../test/host-stage.ts'
import type { Workspace } from '@mcp-host/mcp-testkit'
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

/** Starts one server for each shelf; see the fixture `library`. */
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

function promptText({ messages: [message] }: GetPromptResult): string {
  return message?.content.type === 'text' ? message.content.text : ''
}

function resourceText({ contents: [content] }: ReadResourceResult): string {
  return content !== undefined && 'text' in content ? content.text : ''
}

/** The text of a resource, followed by its cache mark, as in `a: 1 hit`. */
async function readMarked(
  stage: HostStage,
  uri: string,
  options: CacheableOptions = {},
): Promise<string> {
  const result = await stage.host.getResource(uri, options)
  const mark = result._meta?.[CACHE]
  return typeof mark === 'string' ? `${resourceText(result)} ${mark}` : resourceText(result)
}

const control = (stage: HostStage, order: string, what?: string): Promise<string> =>
  stage.call('it.do', { order, what })

describe('listings', () => {
  test('listings of prompts, resources and templates have the items of all pages, as received', async () => {
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

  test('prompts and resources of a server without the capability are not listed', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    expect(stage.find('it')).toMatchObject({ prompts: [], resources: [], resourceTemplates: [] })
    expect(stage.lines('could not be read')).toEqual([])
  })

  test('resources are listed even when the server does not know templates', async () => {
    const stage = await start({ it: { uris: ['a:'], templates: null } })
    expect(stage.find('it')).toMatchObject({ resources: [{ uri: 'a:' }], resourceTemplates: [] })
    expect(stage.lines('could not be read')).toEqual([])
  })

  test('prompts and resources are listed again when the server announces a change, and emit an event', async () => {
    const stage = await start({ it: { prompts: ['p'], uris: ['a:'] } })
    const changed: string[] = []
    stage.host.on('list-changed', ({ server, list }) => changed.push(`${server} ${list}`))
    await control(stage, 'add-prompt', 'new')
    await control(stage, 'add-resource', 'new:')
    await eventually(() => stage.find('it').prompts.length === 2)
    await eventually(() => stage.find('it').resources.length === 2)
    expect(changed.toSorted()).toEqual(['it prompts', 'it resources'])
    expect(promptText(await stage.host.getPrompt('it.new'))).toContain('new')
    expect(resourceText(await stage.host.getResource('new:'))).toContain('new:')
  })
})

describe('a prompt', () => {
  test('a prompt is found by its name or by server and prompt, and returned as received', async () => {
    const stage = await start({ one: { prompts: ['p.q'] }, two: { prompts: ['p.q'] } })
    const result = await stage.host.getPrompt('two.p.q', { a: '1' })
    expect(result).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'p.q {"a":"1"} 1' } }],
      'x-kept': true,
    })
    expect(promptText(await stage.host.getPrompt({ server: 'one', prompt: 'p.q' }))).toBe(
      'p.q {} 1',
    )
  })

  test('an unknown prompt is a validation error', async () => {
    const stage = await start({ it: { prompts: ['p'] } })
    await expect(stage.host.getPrompt('it.q', {}, { requestId: 'r' })).rejects.toMatchObject({
      code: 'validation',
      message: 'there is no prompt "it.q"',
      requestId: 'r',
    })
    const elsewhere = { server: 'other', prompt: 'p' }
    await expect(stage.host.getPrompt(elsewhere)).rejects.toThrow('there is no server "other"')
  })

  test('a malformed answer to a prompt request is a protocol error', async () => {
    const stage = await start({ it: { prompts: ['broken'] } })
    await expect(stage.host.getPrompt('it.broken')).rejects.toMatchObject({
      name: 'ProtocolError',
      server: 'it',
      message: 'it.broken answered with a malformed result',
    })
  })

  test('a prompt is cached by its arguments in any order', async () => {
    const stage = await start({ it: { prompts: ['p'] } })
    const get = async (args: Record<string, string>): Promise<unknown> => {
      const { _meta: meta } = await stage.host.getPrompt('it.p', args)
      return meta?.[CACHE]
    }
    expect(await get({ a: '1', b: '2' })).toBeUndefined()
    expect(await get({ b: '2', a: '1' })).toBe('hit')
    expect(await get({ a: '1', b: '3' })).toBeUndefined()
    await control(stage, 'add-prompt', 'new')
    await eventually(() => stage.find('it').prompts.length === 2)
    expect(await get({ a: '1', b: '2' })).toBeUndefined()
  })
})

describe('a resource', () => {
  test('a resource is found by its URI, by a matching template, or by server and URI', async () => {
    const stage = await start({
      one: { uris: ['a:1'] },
      two: { uris: ['a:2'], templates: ['b://{x}/c'] },
    })
    await stage.host.getResource('a:1')
    expect(resourceText(await stage.host.getResource('a:2'))).toBe('a:2 1')
    expect(resourceText(await stage.host.getResource('b://any/c'))).toBe('b://any/c 2')
    expect(resourceText(await stage.host.getResource({ server: 'one', uri: 'not:listed' }))).toBe(
      'not:listed 2',
    )
  })

  test('a resource is returned as received', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    expect(await stage.host.getResource('a:')).toEqual({
      contents: [{ uri: 'a:', text: 'a: 1' }],
      'x-kept': true,
    })
  })

  test('a resource of several servers must be requested with the name of one', async () => {
    const uri = 'a://b/c d?e'
    const stage = await start({ one: { uris: [uri] }, two: { uris: [uri] } })
    const address = `mcp://two/${encodeURIComponent(uri)}`
    await expect(stage.host.getResource(uri)).rejects.toMatchObject({
      code: 'validation',
      message: `the resource "${uri}" is ambiguous, since "one", "two" may have it; name one, as in mcp://one/${encodeURIComponent(uri)}`,
    })
    await stage.host.getResource({ server: 'one', uri })
    await stage.host.getResource({ server: 'one', uri }, { cache: 'refresh' })
    expect(resourceText(await stage.host.getResource(address))).toBe(`${uri} 1`)
  })

  test('a resource that no server can have is a validation error', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    await expect(stage.host.getResource('a:', { requestId: 'r' })).rejects.toMatchObject({
      code: 'validation',
      message: 'there is no resource "a:"',
      requestId: 'r',
    })
  })

  test('a refusal or a malformed answer to a resource request is a protocol error', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    await expect(stage.host.getResource('none:')).rejects.toMatchObject({
      name: 'ProtocolError',
      rpcCode: -32_002,
    })
    await expect(stage.host.getResource('broken:')).rejects.toThrow('malformed result')
  })
})

describe('the cache', () => {
  test('the cache answers until the time to live is over, and marks its results', async () => {
    const stage = await start({ it: { uris: ['a:'] } }, { cache: { ttlMs: 1000 } })
    vi.useFakeTimers({ toFake: ['performance'] })
    expect(await readMarked(stage, 'a:')).toBe('a: 1')
    await vi.advanceTimersByTimeAsync(999)
    expect(await readMarked(stage, 'a:')).toBe('a: 1 hit')
    await vi.advanceTimersByTimeAsync(1)
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
  })

  test('the cache is bypassed or refreshed when the caller requests that', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:', { cache: 'bypass' })).toBe('a: 2')
    expect(await readMarked(stage, 'a:')).toBe('a: 1 hit')
    expect(await readMarked(stage, 'a:', { cache: 'refresh' })).toBe('a: 3')
    expect(await readMarked(stage, 'a:')).toBe('a: 3 hit')
  })

  test('the cache can be turned off', async () => {
    const stage = await start({ it: { uris: ['a:'] } }, { cache: false })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
  })

  test('the cache keeps at most its maximum of entries', async () => {
    const stage = await start({ it: { uris: ['a:', 'b:'] } }, { cache: { maxEntries: 1 } })
    await readMarked(stage, 'a:')
    await readMarked(stage, 'b:')
    expect(await readMarked(stage, 'a:')).toBe('a: 3')
  })

  test("the time to live in a server's answer overrides the configured one", async () => {
    const stage = await start({ it: { uris: ['a:'], ttlMs: 0 } })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
  })

  test('the cache evicts the resources that a server announces as changed, and no others', async () => {
    const stage = await start({ it: { uris: ['a:', 'b:'] } })
    await readMarked(stage, 'a:')
    await readMarked(stage, 'b:')
    await control(stage, 'update', 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 3')
    expect(await readMarked(stage, 'b:')).toBe('b: 2 hit')
    await control(stage, 'add-resource', 'c:')
    await eventually(() => stage.find('it').resources.length === 3)
    expect(await readMarked(stage, 'b:')).toBe('b: 4')
  })

  test('the cache answers with stale entries while the server is unavailable, and marks them', async () => {
    const stage = await start(
      { it: { uris: ['a:', 'b:'], prompts: ['p'] } },
      { cache: { ttlMs: 0.001 } },
    )
    await readMarked(stage, 'a:')
    await stage.host.getPrompt('it.p')
    await control(stage, 'exit').catch(() => undefined)
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

  test('the cache answers with a stale entry at once while its server waits for a restart', async () => {
    const stage = await HostStage.start(
      (workspace) => ({
        it: { ...library(workspace, { uris: ['a:'] }), restart: { policy: 'on-failure' } },
      }),
      { cache: { ttlMs: 0.001 } },
    )
    await readMarked(stage, 'a:')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await control(stage, 'exit').catch(() => undefined)
    await eventually(() => stage.lines('will be restarted').length > 0)
    expect(await readMarked(stage, 'a:')).toBe('a: 1 stale')
    expect(stage.find('it').state).toBe('unavailable')
  })

  test("the cache returns the server's answer even if a caller changed an earlier result", async () => {
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

  test('the cache evicts changed resources even if the listing fails', async () => {
    const stage = await start({ it: { uris: ['a:'] } })
    await readMarked(stage, 'a:')
    expect(await readMarked(stage, 'a:')).toBe('a: 1 hit')
    await control(stage, 'break-list')
    expect(await readMarked(stage, 'a:')).toBe('a: 2')
    await eventually(() => stage.lines('could not be read').length > 0)
    expect(stage.find('it')).toMatchObject({ state: 'ready', resources: [{ uri: 'a:' }] })
  })

  test('the cache does not store an answer from before a change', async () => {
    const stage = await start({ it: { uris: ['held:'] } })
    const reading = stage.host.getResource('held:')
    await eventually(async () => (await control(stage, 'received')) === 'held')
    await control(stage, 'update', 'held:')
    await control(stage, 'release')
    expect(resourceText(await reading)).toBe('held')
    const again = stage.host.getResource('held:')
    await eventually(async () => (await control(stage, 'received')) === 'held,held')
    await control(stage, 'release')
    expect((await again)._meta).toBeUndefined()
  })

  test('the cache does not store a late answer of a replaced server', async () => {
    const stage = await start({ it: { uris: ['held:'] } })
    const { host, workspace } = stage
    const old = stage.find('it').pid ?? 0
    const reading = host.getResource('held:')
    await eventually(async () => (await control(stage, 'received')) === 'held')
    await host.reload({ servers: { it: library(workspace, { uris: ['held:', 'b:'] }) } })
    process.kill(old, 'SIGUSR2')
    expect(resourceText(await reading)).toBe('held')
    const fresh = host.getResource('held:')
    await eventually(async () => (await control(stage, 'received')) === 'held')
    await control(stage, 'release')
    expect((await fresh)._meta).toBeUndefined()
  })

  test('cached resources belong to one server, and not to its replacement', async () => {
    const stage = await start({ one: { uris: ['a:'] }, two: { uris: ['a:'] } })
    const readFrom = (server: string): Promise<ReadResourceResult> =>
      stage.host.getResource({ server, uri: 'a:' })
    await readFrom('one')
    expect((await readFrom('two'))._meta).toBeUndefined()
    await stage.host.reload({
      servers: {
        one: library(stage.workspace, { uris: ['a:', 'b:'] }),
        two: library(stage.workspace, { uris: ['a:'] }),
      },
    })
    expect((await readFrom('one'))._meta).toBeUndefined()
    expect((await readFrom('two'))._meta).toEqual({ [CACHE]: 'hit' })
  })
})

describe('a completion', () => {
  const argument = { name: 'x', value: 'v' }

  test('a completion is sent to the server that has the prompt or the template', async () => {
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

  test('a completion of an unknown prompt or with a malformed answer is an error', async () => {
    const stage = await start({ it: { prompts: ['p', 'broken'] } })
    const complete = (name: string): Promise<unknown> =>
      stage.host.complete({ ref: { type: 'ref/prompt', name }, argument })
    await expect(complete('it.q')).rejects.toMatchObject({ code: 'validation' })
    await expect(complete('it.broken')).rejects.toBeInstanceOf(ProtocolError)
  })
})

describe('a subscription', () => {
  test('a subscription delivers changes until it ends, and survives a restart', async () => {
    const stage = await start({ it: { uris: ['a:', 'b:'] } })
    const { signal } = new AbortController()
    const updates = stage.host.events({ signal, types: ['resource-updated'] })
    await stage.host.subscribe('a:')
    await stage.host.subscribe({ server: 'it', uri: 'b:' })
    await stage.host.unsubscribe('b:')
    expect(await control(stage, 'received')).toBe('subscribe a:,subscribe b:,unsubscribe b:')
    await control(stage, 'update', 'a:')
    expect((await updates.next()).value).toEqual({
      type: 'resource-updated',
      server: 'it',
      uri: 'a:',
    })
    await stage.host.restart('it')
    expect(await control(stage, 'received')).toBe('subscribe a:')
  })

  test('a subscription that the server refuses, or of an unknown server, is an error', async () => {
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
    // A refused subscription is not repeated.
    expect(await control(stage, 'received')).toBe('')
  })
})

describe('the logging level', () => {
  test('the logging level is sent to one server, or to all ready servers', async () => {
    const stage = await start({ it: {}, other: {} })
    await stage.host.setLoggingLevel('debug', 'it')
    await stage.host.setLoggingLevel('error')
    expect(await control(stage, 'received')).toBe('level debug,level error')
    expect(await stage.call('other.do', { order: 'received' })).toBe('level error')
    await stage.host.restart('it')
    expect(await control(stage, 'received')).toBe('level error')
    await expect(stage.host.setLoggingLevel('info', 'no')).rejects.toThrow('no server "no"')
  })

  test('the logging level is not sent to a server without the capability', async () => {
    const stage = await HostStage.start((workspace) => ({ it: workspace.fixture('named', 'a') }))
    await stage.host.setLoggingLevel('debug')
    expect(stage.find('it').state).toBe('ready')
  })
})

test('log messages and completed elicitations of servers are events', async () => {
  const stage = await start({ it: {} })
  const events: HostEvent[] = []
  for (const type of ['log', 'elicitation-complete'] as const) {
    stage.host.on(type, (event) => events.push(event))
  }
  await control(stage, 'log', 'words')
  await control(stage, 'done', 'form-1')
  expect(events).toEqual([
    { type: 'log', server: 'it', level: 'warning', logger: 'shelf', data: 'words' },
    { type: 'elicitation-complete', server: 'it', elicitationId: 'form-1' },
  ])
})
