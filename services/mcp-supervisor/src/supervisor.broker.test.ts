import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bus } from '@mcp-host/bus'
import type { ServerName } from '@mcp-host/contracts'
import { newEnvelope, supervisorControl } from '@mcp-host/contracts'
import type { Service, ServiceDeps } from '@mcp-host/service'
import { createLogger, loadConfig } from '@mcp-host/service'
import type { Broker } from '@mcp-host/testkit'
import { eventually, startBroker, testFolder } from '@mcp-host/testkit'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { supervisorSettings } from './config.ts'
import { createSupervisor } from './supervisor.ts'

let stack: AsyncDisposableStack
let broker: Broker
let bus: Bus
let mcpJsonPath: string
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  mcpJsonPath = join(stack.use(await testFolder()).path, 'mcp.json')
  broker = stack.use(await startBroker())
  bus = await broker.connect()
})
afterEach(() => stack.disposeAsync())

/** A file that is refused as a whole. */
const REFUSED = { servers: 7 }

const write = (config: object) => writeFile(mcpJsonPath, JSON.stringify(config))

function start(on: Bus = bus, logger = createLogger('mcp-supervisor', 'silent')): Promise<Service> {
  // A supervisor uses no other member.
  const deps = { bus: on, logger, metrics: new Registry() } as unknown as ServiceDeps
  const defaults = loadConfig(supervisorSettings, { SANDBOX: 'none' })
  const times = { defaultToolTimeoutMs: 1000, inputTimeoutMs: 1000, installTimeoutMs: 1000 }
  return createSupervisor(deps, { ...defaults, mcpJsonPath, maxSessionProcesses: 1, ...times }, {})
}

test('a server with the name of a built-in one gets another name', async () => {
  await write({ servers: { files: { url: 'http://127.0.0.1:9/mcp' } } })
  stack.use(await start())
  const { entries } = await bus.catalog.watch()
  await eventually(() =>
    entries.values().some((entry) => entry.kind === 'server' && /^files-\w+$/.test(entry.server)),
  )
})

const control = async (
  action:
    | { readonly action: 'reload' }
    | { readonly action: 'read-output'; readonly server: string },
) => {
  const options = { envelope: newEnvelope('local'), timeoutMs: 10_000 }
  // A name that the test has chosen.
  const request = 'server' in action ? { ...action, server: action.server as ServerName } : action
  return (await broker.connect()).call(supervisorControl, { supervisor: bus.id }, request, options)
}
const reload = () => control({ action: 'reload' })

test('a server with a faulty entry is unavailable with the reason, beside the others', async () => {
  const good = { url: 'http://127.0.0.1:9/mcp' }
  const bad = { command: 'x', env: { KEY: '${NONE}' } }
  await write({ servers: { good, bad, gone: bad } })
  stack.use(await start())
  const { entries } = await bus.catalog.watch()
  const entryOf = (name: string) => entries.get(`server.${name}.${bus.id}`)
  await eventually(() => entryOf('good') !== undefined && entryOf('gone') !== undefined)
  const error = expect.stringContaining('servers.bad.env.KEY: uses NONE, which is not set. Set it')
  expect(entryOf('bad')).toMatchObject({ state: 'unavailable', error, since: expect.any(Number) })
  expect(entries.get(`supervisor.${bus.id}`)).toMatchObject({ configured: ['good', 'bad', 'gone'] })

  await write({ servers: { good: { ...good, url: 7 }, bad: good } })
  await reload()
  const isTaken = () =>
    JSON.stringify([entryOf('good'), entryOf('bad')]).match(/servers.good.url.*"type":"http"/)
  await eventually(() => entryOf('gone') === undefined && isTaken() !== null)
  expect(entryOf('good')).toMatchObject({ state: 'unavailable' })
  expect(entryOf('bad')).not.toHaveProperty('error', error)
})

test('a file that is no JSON is refused at a reload, and the servers before it stay', async () => {
  await write({ servers: { good: { url: 'http://127.0.0.1:9/mcp' } } })
  stack.use(await start())
  await writeFile(mcpJsonPath, '{ "servers": ')
  await expect(reload()).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('is not valid JSON'),
  })
  const { entries } = await bus.catalog.watch()
  await eventually(() => entries.has(`server.good.${bus.id}`))
})

test('an mcp.json of another client is loaded, and its unknown fields are logged', async () => {
  await write({ mcpServers: { 'My server': { url: 'http://127.0.0.1:9/mcp', trust: true } } })
  const logger = createLogger('mcp-supervisor', 'silent')
  const warn = vi.spyOn(logger, 'warn')
  stack.use(await start(bus, logger))
  const { entries } = await bus.catalog.watch()
  await eventually(() => entries.has(`server.My-server.${bus.id}`))
  const logged = warn.mock.calls.map(([, message]) => String(message))
  expect(logged).toContainEqual(expect.stringContaining('My server.trust: is not a known field'))
})

test('a server that is configured as in the README is restarted after a crash', async () => {
  const script = join(import.meta.dirname, '../test/fixtures/holding-server.ts')
  await write({ servers: { it: { command: process.execPath, args: [script] } } })
  stack.use(await start())
  const { entries } = await bus.catalog.watch()
  const readyPid = (): Promise<number> =>
    eventually(() => {
      const entry = entries.get(`server.it.${bus.id}`)
      return entry?.kind === 'server' && entry.state === 'ready' ? entry.pid : undefined
    })
  const before = await readyPid()
  process.kill(before, 'SIGKILL')
  await eventually(async () => (await readyPid()) !== before)
  const stats = await eventually(() => {
    const present = entries.get(`supervisor.${bus.id}`)
    const known = present?.kind === 'supervisor' ? present.servers['it'] : undefined
    return known?.healthScore === 1 ? known : undefined
  })
  expect(stats.checkedAt).toBeGreaterThan(0)
})

test('the catalog shows why a server does not start, with its redacted output', async () => {
  const script = 'console.error("no access with", process.env.API_KEY); process.exit(1)'
  const it = { command: process.execPath, args: ['-e', script], env: { API_KEY: 'sk-1234' } }
  await write({ servers: { it } })
  stack.use(await start())
  const { entries } = await bus.catalog.watch()
  const entry = await eventually(() => {
    const found = entries.get(`server.it.${bus.id}`)
    return found?.kind === 'server' && found.error !== undefined ? found : undefined
  })
  expect(entry).toMatchObject({
    error: 'the server "it" exited with code 1 before it was ready',
    output: ['no access with [API_KEY]'],
    since: expect.any(Number),
  })
})

test('the last lines of a working server are read without its secrets', async () => {
  const script = join(import.meta.dirname, '../test/fixtures/holding-server.ts')
  const says = 'data:text/javascript,console.error("connected with", process.env.API_KEY)'
  const args = ['--import', says, script]
  const it = { command: process.execPath, args, env: { API_KEY: 'sk-1234' } }
  await write({ servers: { shared: it, own: { ...it, scope: 'session' } } })
  stack.use(await start())
  for (const server of ['shared', 'own']) {
    const output = await eventually(async () => {
      const reply = await control({ action: 'read-output', server })
      return reply.output?.length === 0 ? undefined : reply.output
    })
    expect(output).toEqual(['connected with [API_KEY]'])
  }
  const none = control({ action: 'read-output', server: 'none' })
  await expect(none).rejects.toMatchObject({ code: 'not-found' })
})

test('servers whose tools could have the same names are logged as a warning', async () => {
  const server = { url: 'http://127.0.0.1:1/' }
  await write({ servers: { a: server, a__b: server } })
  const logger = createLogger('mcp-supervisor', 'silent')
  const warnings: unknown[] = []
  logger.warn = (...[, message]: unknown[]) => void warnings.push(message)
  stack.use(await start(bus, logger))
  expect(warnings).toContainEqual(
    expect.stringContaining('the names of "a__b" could be those of "a"'),
  )
})

/** The bus, which runs a hook before one step of the start. */
function hookBefore(step: 'watch' | 'put', hook: () => Promise<void>): Bus {
  const wrap = <Target extends object>(target: Target, replace: (name: PropertyKey) => unknown) =>
    new Proxy(target, {
      get(_, name) {
        const value: unknown = replace(name) ?? Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  const { catalog } = bus
  const delayed = wrap(catalog, (name) =>
    name !== step
      ? undefined
      : async (...args: Parameters<typeof catalog.put>) => {
          await hook()
          return step === 'put' ? catalog.put(...args) : catalog.watch()
        },
  )
  return wrap(bus, (name) => (name === 'catalog' ? delayed : undefined))
}

test('a change of mcp.json during the start of a supervisor is loaded', async () => {
  await write({ servers: {} })
  stack.use(await start(hookBefore('watch', () => write(REFUSED))))
  const { entries } = await bus.catalog.watch()
  const faults = await eventually(() => {
    const present = entries.get(`supervisor.${bus.id}`)
    return present?.kind === 'supervisor' ? present.faults : undefined
  })
  expect(faults).toContain('servers: must be an object')
})

test('warnings about mcp.json and about each change of it are in the catalog', async () => {
  await write({ servers: {}, first: 1 })
  stack.use(await start())
  const { entries } = await bus.catalog.watch()
  const isWarnedOf = (field: string) =>
    eventually(() => {
      const present = entries.get(`supervisor.${bus.id}`)
      const warnings = present?.kind === 'supervisor' ? (present.warnings ?? []) : []
      return warnings.length === 1 && warnings[0]?.includes(`${field}: is not a known field`)
    })
  await isWarnedOf('first')
  await write({ servers: {}, second: 1 })
  await isWarnedOf('second')
})

test('a queued reload reads mcp.json when it runs, not when it was requested', async () => {
  await write({ servers: {} })
  const other = await broker.connect()
  const gate = Promise.withResolvers<void>()
  const hasReachedGate = Promise.withResolvers<void>()
  const starting = start(
    hookBefore('put', () => {
      hasReachedGate.resolve()
      return gate.promise
    }),
  )
  await hasReachedGate.promise
  // The ping returns once the broker knows the subscriptions of the supervisor.
  await bus.ping()
  const reloaded = other.call(
    supervisorControl,
    { supervisor: bus.id },
    { action: 'reload' },
    { envelope: newEnvelope('local'), timeoutMs: 10_000 },
  )
  const refused = expect(reloaded).rejects.toMatchObject({ code: 'invalid' })
  // A reload that did not wait would have read the file by then.
  for (let turn = 0; turn < 20; turn++) await bus.ping()
  await write(REFUSED)
  gate.resolve()
  stack.use(await starting)
  await refused
})
