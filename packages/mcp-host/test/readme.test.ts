import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { expect, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { launch } from '@mcp-host/process'
import { withDefaults } from '../src/host-options.ts'
import {
  AuthorizationServer,
  eventually,
  HttpServer,
  openWorkspace,
  type Workspace,
} from '@mcp-host/mcp-testkit'
import { LEGACY } from '@mcp-host/upstream/testing'
import { programOf } from './peers/installed.ts'

const EXAMPLE = join(import.meta.dirname, 'fixtures/readme-example.ts')

test('the example of the README is the one that is compiled and run here', async () => {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${await readFile(EXAMPLE, 'utf8')}\`\`\``)

  const workspace = await openWorkspace()
  const { command, args } = workspace.fixture('echo')
  await workspace.write('mcp.json', { servers: { echo: { command, args } } })
  const program = launch(process.execPath, [EXAMPLE], {
    cwd: workspace.folder,
    env: process.env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: false,
  })
  const output = program.stdout === null ? '' : await text(program.stdout)
  expect(output).toContain('echo is ready: echo, mail, old')
  expect(output).toContain("[ { type: 'text', text: 'hello' } ]")
  expect(workspace.processes()).toEqual([])
})

test.for([
  ['agent', 'The sum of 2 and 3 is 5.'],
  ['sampling', 'everything asks a model', 'I was told'],
  ['own-server', "{ type: 'text', text: 'in 2028' }"],
  ['progress', 'step 1 of 2\nstep 2 of 2\n', 'Long running operation completed'],
])('the recipe "%s" of the README is the one that is compiled and run here', async (recipe) => {
  const [name = '', ...expected] = recipe
  const workspace = await openRecipe(name)
  const program = start(workspace, name)
  const output = program.stdout === null ? '' : await text(program.stdout)
  for (const words of expected) expect(output).toContain(words)
  expect(workspace.processes()).toEqual([])
})

test('the recipe "login" of the README logs a user in', async () => {
  await using issuer = await AuthorizationServer.open()
  const server = await HttpServer.open({
    ...LEGACY,
    'tools/list': () => ({ tools: [{ name: 'say', inputSchema: { type: 'object' } }] }),
  })
  const accepts = (token: string, resource: string) => issuer.accepts(token, resource)
  server.protection = { issuer: issuer.url, scope: 'notes.read', accepts }
  const program = start(await openRecipe('login'), 'login', server.url)
  let output = ''
  program.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(() => output.includes('\n'))
  const page = new URL(/open (\S+)/.exec(output)?.[1] ?? '')
  await fetch(await issuer.login(page, 'ann'))
  await once(program, 'exit')
  expect(output).toContain("[ 'notes.say' ]")
})

test('the recipe "reload" of the README follows its file until it is interrupted', async () => {
  const workspace = await openRecipe('reload')
  const program = start(workspace, 'reload')
  let output = ''
  program.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await eventually(() => output.includes('waiting for a change'))
  await workspace.write('mcp.json', { servers: { other: workspace.fixture('named', 'a') } })
  await eventually(() => output.includes("added [ 'other' ] removed [ 'everything' ]"))
  const ended = once(program, 'exit')
  program.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  expect(workspace.processes()).toEqual([])
})

/** A workspace with the `mcp.json` that the recipe expects; checks that the README has the recipe. */
async function openRecipe(name: string): Promise<Workspace> {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${await readFile(recipeFile(name), 'utf8')}\`\`\``)
  const workspace = await openWorkspace()
  const program = programOf('@modelcontextprotocol/server-everything')
  const args = [program, 'stdio', workspace.path('end')]
  const everything = { command: process.execPath, args }
  await workspace.write('mcp.json', { servers: { everything } })
  return workspace
}

const recipeFile = (name: string): string =>
  join(import.meta.dirname, `fixtures/recipes/${name}.ts`)

function start(
  { folder }: Workspace,
  name: string,
  ...args: readonly string[]
): ReturnType<typeof launch> {
  return launch(process.execPath, [recipeFile(name), ...args], {
    cwd: folder,
    env: process.env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: false,
  })
}

test('the host sends the version of the package as its client version', () => {
  const { clientInfo } = withDefaults({})
  expect(clientInfo).toEqual({ name: manifest.name, version: manifest.version })
})
