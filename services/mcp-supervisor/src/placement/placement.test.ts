import type { McpConfig, MCPHost, ServerConfig } from 'mcp-host'
import { beforeEach, expect, test } from 'vitest'
import type { PlacementDeps } from './placement-context.ts'
import { Placement } from './placement.ts'

/** The URLs of the servers that run, in the order of their starts. */
let running: string[]
/** What the end of the server with a URL waits for: its calls. */
let holds: Map<string, PromiseWithResolvers<void>>
/** The servers that left the configuration and have ended. */
let removed: string[]
let placement: Placement
beforeEach(() => {
  removed = []
  running = []
  holds = new Map()
  // Of all these only what a server that every supervisor runs needs.
  const deps = {
    bus: { id: 'us' },
    subjects: { control: () => ({ [Symbol.dispose]: () => undefined }) },
    catalog: { entries: new Map(), onChange: () => ({ [Symbol.dispose]: () => undefined }) },
    publisher: { set: () => undefined, remove: () => undefined },
    events: { callStarted: () => undefined, callEnded: () => undefined },
    makeHost,
    onRemoved: (server: string) => removed.push(server),
  } as unknown as PlacementDeps
  placement = new Placement(deps)
})

function makeHost(): MCPHost {
  let url = ''
  return {
    async initialize({ servers }: McpConfig) {
      const [config] = Object.values(servers)
      url = config?.type === 'http' ? config.url : ''
      running.push(url)
    },
    getServers: () => [],
    on: () => undefined,
    // eslint-disable-next-line require-yield -- nothing changes
    async *serverChanges() {
      return
    },
    async shutdown() {
      await holds.get(url)?.promise
      running = running.filter((each) => each !== url)
    },
  } as unknown as MCPHost
}

const config = (urls: Readonly<Record<string, string>>): McpConfig => ({
  servers: Object.fromEntries(
    Object.entries(urls).map(([name, url]): [string, ServerConfig] => [
      name,
      { type: 'http', url, headers: {} },
    ]),
  ),
})

/** Until all that needs no outside has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a long call of one server keeps no other from its new configuration', async () => {
  await placement.apply(config({ a: 'a1', b: 'b1', c: 'c1' }))
  await settled()
  const call = Promise.withResolvers<void>()
  holds.set('a1', call)
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

test('nothing is started any more once it is to end', async () => {
  await placement.apply(config({ a: 'a1' }))
  await settled()
  const call = Promise.withResolvers<void>()
  holds.set('a1', call)
  const applied = placement.apply(config({ a: 'a2' }))
  await settled()
  const ended = placement[Symbol.asyncDispose]()
  call.resolve()
  await Promise.all([applied, ended])
  await expect(placement.apply(config({ a: 'a3' }))).rejects.toMatchObject({ code: 'unavailable' })
  await settled()
  expect(running).toEqual([])
})
