import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, utimes } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { HostStage } from '../test/host-stage.ts'
import { listenForTest } from '@mcp-host/mcp-testkit'
import type { Workspace } from '@mcp-host/mcp-testkit'
import type { StdioServerConfig } from './index.ts'

const NAME = '@scope/echo'

/** An MCP server without dependencies, whose one tool says how it was started. */
const PROGRAM = `#!/usr/bin/env node
const about = () => JSON.stringify({ args: process.argv.slice(2), isMain: require.main === module, flags: process.execArgv, cwd: process.cwd() })
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
  'tools/list': () => ({ tools: [{ name: 'about', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: about() }] }),
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }))
})
`

interface Registry {
  readonly url: string
  /** The paths that were asked for. */
  readonly asked: string[]
  readonly server: Server
}

/** A registry of npm with one package, whose programs are given. */
async function serveRegistry(
  workspace: Workspace,
  bin: Readonly<Record<string, string>>,
): Promise<Registry> {
  await mkdir(workspace.path('package'))
  const manifest = { name: NAME, version: '1.0.0', bin }
  await workspace.write('package/package.json', manifest)
  await workspace.write('package/main.js', PROGRAM)
  await workspace.write(
    'package/say.sh',
    '#!/bin/sh\nexec node "$(dirname "$0")/main.js" "from sh"\n',
  )
  const packed = workspace.path('package.tgz')
  await promisify(execFile)('tar', ['-czf', packed, '-C', workspace.folder, 'package'])
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const dist = { tarball: `http://${request.headers.host}/package.tgz` }
    const versions = { '1.0.0': { ...manifest, dist } }
    const packument = JSON.stringify({ name: NAME, 'dist-tags': { latest: '1.0.0' }, versions })
    if (request.url === '/package.tgz') response.end(readFileSync(packed))
    else if (request.url?.endsWith('/@scope%2fecho') === true) response.end(packument)
    else response.writeHead(404).end('{}')
  })
  await listenForTest(server)
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, asked, server }
}

function entry(
  workspace: Workspace,
  { url }: Pick<Registry, 'url'>,
  ...args: string[]
): StdioServerConfig {
  const cache = workspace.path('cache')
  const env = { npm_config_registry: url, npm_config_cache: cache, HOME: workspace.folder }
  return { type: 'stdio', command: 'npx', args, cwd: workspace.folder, env }
}

test('a package is installed once, runs in the process of its server, and starts again without the registry', async () => {
  const stage = await HostStage.open({ startTimeoutMs: 60_000 })
  const { workspace, host } = stage
  const registry = await serveRegistry(workspace, { echo: './main.js' })
  const end = workspace.path('end')
  const it = entry(workspace, registry, '-y', NAME, '--flag', end)
  await host.initialize({ servers: { it } })
  const about = { args: ['--flag', end], isMain: true, flags: [], cwd: workspace.folder }
  expect(JSON.parse(await stage.call('it.about'))).toEqual(about)
  expect(workspace.processes()).toEqual([stage.find('it').pid])
  const asked = registry.asked.length
  expect(asked).toBeGreaterThan(0)
  registry.server.close()
  await host.restart('it')
  expect(JSON.parse(await stage.call('it.about'))).toEqual(about)
  expect(registry.asked).toHaveLength(asked)
})

test('servers that start at once install their package side by side', async () => {
  const stage = await HostStage.open({ startTimeoutMs: 60_000 })
  const { workspace, host } = stage
  const registry = await serveRegistry(workspace, { echo: './main.js' })
  const [one, two] = [entry(workspace, registry, NAME), entry(workspace, registry, NAME)]
  await host.initialize({ servers: { one, two } })
  expect([stage.toolsOf('one'), stage.toolsOf('two')]).toEqual([['about'], ['about']])
  expect(await readdir(workspace.path('cache/_mcp-host'))).toHaveLength(1)
})

test.each<[string, string, string]>([
  ['the environment of its entry', 'first/', 'other/'],
  ["the user's .npmrc", '', 'first/'],
])(
  'a package comes from the registry in %s, also where another one had it',
  async (_, variable, file) => {
    const stage = await HostStage.open({ startTimeoutMs: 60_000 })
    const { workspace, host } = stage
    const { url, asked } = await serveRegistry(workspace, { echo: './main.js' })
    await workspace.write('.npmrc', `registry = ${url}${file}\n`)
    const one = entry(workspace, { url }, NAME)
    const { npm_config_registry: _url, ...plain } = one.env ?? {}
    const env = variable === '' ? plain : { ...plain, NPM_CONFIG_REGISTRY: `${url}${variable}` }
    await host.initialize({ servers: { one } })
    expect(asked).toContain('/@scope%2fecho')
    await host.reload({ servers: { one, two: { ...one, env } } })
    expect(asked).toContain('/first/@scope%2fecho')
  },
)

test('folders of installations that were killed are removed, but not one that may be in use', async () => {
  const stage = await HostStage.open({ startTimeoutMs: 60_000 })
  const { workspace, host } = stage
  const registry = await serveRegistry(workspace, { echo: './main.js' })
  const [old, recent] = ['0123.old', '0123.recent']
  for (const name of [old, recent])
    await mkdir(workspace.path(`cache/_mcp-host/${name}/node_modules`), { recursive: true })
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000)
  await utimes(workspace.path(`cache/_mcp-host/${old}`), hoursAgo, hoursAgo)
  await host.initialize({ servers: { it: entry(workspace, registry, NAME) } })
  const left = await readdir(workspace.path('cache/_mcp-host'))
  expect(left).toHaveLength(2)
  expect(left).toContain(recent)
})

test('a program that is no script of Node runs as a process of its own', async () => {
  const stage = await HostStage.open({ startTimeoutMs: 60_000 })
  const { workspace, host } = stage
  const registry = await serveRegistry(workspace, { main: './main.js', say: './say.sh' })
  const it = entry(workspace, registry, '-y', '-p', NAME, 'say')
  await host.initialize({ servers: { it } })
  expect(JSON.parse(await stage.call('it.about'))).toMatchObject({ args: ['from sh'] })
})

test.each<[string, string[], RegExp]>([
  [
    'the package is not at the registry',
    ['-y', 'no-such-package'],
    /npm could not install no-such-package/,
  ],
  [
    'a package has no program of that name',
    ['-y', '-p', NAME, 'other'],
    /has no program "other"; it has: one, two/,
  ],
  [
    'it is not clear which program is meant',
    ['-y', NAME],
    /has no program "echo"; it has: one, two/,
  ],
])('a start says that %s', async (_, args, expected) => {
  const stage = await HostStage.open({ startTimeoutMs: 60_000 })
  const { workspace, host } = stage
  const registry = await serveRegistry(workspace, { one: './main.js', two: './main.js' })
  const it = entry(workspace, registry, ...args)
  await expect(host.initialize({ servers: { it } })).rejects.toThrow(expected)
  expect(await readdir(workspace.path('cache/_mcp-host'))).toHaveLength(args.includes(NAME) ? 1 : 0)
})
