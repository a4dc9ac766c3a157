import { ServerName } from '@mcp-host/contracts'
import type { ServerEntry } from '@mcp-host/contracts'
import type { McpConfig } from '@mcp-host/mcp-json'
import type { ServerConfig, Upstream } from '@mcp-host/upstream'
import type { OpenUpstream } from '@mcp-host/mcp-bus/serve'
import { beforeEach, expect, test } from 'vitest'
import type { PlacementDeps } from './placement-context.ts'
import { Placement } from './placement.ts'

/** URLs of the running servers, in the order of their starts. */
let running: string[]
/** Calls by URL that delay the end of their server. */
let openCalls: Map<string, PromiseWithResolvers<void>>
/** Servers that were removed from the configuration and have ended. */
let removed: string[]
/** The server that is paused. */
let paused: string | undefined
let published: ServerEntry[]
let placement: Placement
beforeEach(() => {
  removed = []
  paused = undefined
  published = []
  running = []
  openCalls = new Map()
  // Servers with the placement policy `every` use only these members.
  const deps = {
    bus: { id: 'us' },
    subjects: { control: () => ({ [Symbol.dispose]: () => undefined }) },
    catalog: { entries: new Map(), onChange: () => ({ [Symbol.dispose]: () => undefined }) },
    publisher: { set: (entry: ServerEntry) => published.push(entry), remove: () => undefined },
    pauses: {
      until: (server: string) => (server === paused ? 0 : undefined),
      async end() {
        paused = undefined
      },
    },
    events: { callStarted: () => undefined, callEnded: () => undefined },
    openUpstream,
    steps: [],
    onRemoved: (server: string) => removed.push(server),
  } as unknown as PlacementDeps
  placement = new Placement(deps)
})

const openUpstream: OpenUpstream = (name, started) => {
  const url = started.type === 'http' ? started.url : ''
  return {
    start: async () => void running.push(url),
    snapshot: () => ({ name, state: 'starting' }),
    async stop() {
      await openCalls.get(url)?.promise
      running = running.filter((each) => each !== url)
    },
    // Placement uses only these members.
  } as unknown as Upstream
}

const config = (urls: Readonly<Record<string, string>>): McpConfig => ({
  servers: Object.fromEntries(
    Object.entries(urls).map(([name, url]): [string, ServerConfig] => [
      name,
      { type: 'http', url, headers: {} },
    ]),
  ),
})

/** Resolves after all pending promises that wait for no I/O. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a long call of one server does not delay the new configuration of others', async () => {
  await placement.apply(config({ a: 'a1', b: 'b1', c: 'c1' }))
  await settled()
  const call = Promise.withResolvers<void>()
  openCalls.set('a1', call)
  const applied = placement.apply(config({ a: 'a2', b: 'b2', d: 'd1' }))
  await settled()
  expect(running).toEqual(['a1', 'd1', 'b2'])
  call.resolve()
  expect(await applied).toEqual({
    added: ['d'],
    changed: ['a', 'b'],
    removed: ['c'],
    unchanged: [],
  })
  await settled()
  expect(running).toEqual(['d1', 'b2', 'a2'])
  expect(Object.keys(placement.stats()).toSorted()).toEqual(['a', 'b', 'd'])
  expect(removed).toEqual(['c'])
})

test('a disposed placement starts no more servers', async () => {
  await placement.apply(config({ a: 'a1' }))
  await settled()
  const call = Promise.withResolvers<void>()
  openCalls.set('a1', call)
  const applied = placement.apply(config({ a: 'a2' }))
  await settled()
  const ended = placement[Symbol.asyncDispose]()
  call.resolve()
  await Promise.all([applied, ended])
  await expect(placement.apply(config({ a: 'a3' }))).rejects.toMatchObject({ code: 'unavailable' })
  await settled()
  expect(running).toEqual([])
})

test('a paused server ends and says why, and a restart ends the pause', async () => {
  await placement.apply(config({ a: 'a1', b: 'b1' }))
  await settled()
  paused = 'a'
  await placement.followPauses()
  await settled()
  expect(running).toEqual(['b1'])
  const error = expect.stringContaining('paused until 1970-01-01T00:00:00.000Z')
  expect(published.at(-1)).toMatchObject({ server: 'a', state: 'unavailable', error })
  // A changed configuration does not end the pause.
  await placement.apply(config({ a: 'a2', b: 'b1' }))
  await settled()
  expect(running).toEqual(['b1'])
  await placement.policy(ServerName.parse('a')).restart()
  await placement.followPauses()
  await settled()
  expect(running).toEqual(['b1', 'a2'])
})
