import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { Workspace } from '@mcp-host/mcp-testkit'
import { withoutLauncher } from './package-command.ts'

/** A folder without packages, as all folders above it. */
const EMPTY = '/'
const REPOSITORY = join(import.meta.dirname, '..', '..', '..', '..')

/** What is run of a command line: packages, program and arguments; undefined: the command line as it is. */
function read(
  line: string,
  cwd = EMPTY,
  env: Readonly<Record<string, string>> = {},
): unknown[] | undefined {
  const [command = '', ...args] = line.split(' ')
  const found = withoutLauncher({ command, args }, { cwd, env, platform: 'linux' })
  if (found.command === command) return undefined
  const [, , , packages = '', ...others] = found.args
  return [JSON.parse(packages), ...others]
}

describe('a launcher of packages', () => {
  test.each<[string, unknown[]]>([
    ['npx server', [['server'], '']],
    ['npx -y @scope/server', [['@scope/server'], '']],
    [
      'npx --yes --quiet @scope/server@latest /data --port 1',
      [['@scope/server@latest'], '', '/data', '--port', '1'],
    ],
    ['npx -y server@^1.2 -y -p x', [['server@^1.2'], '', '-y', '-p', 'x']],
    ['npx -y -- server --help', [['server'], '', '--help']],
    ['npx -y -p @scope/server tool a', [['@scope/server'], 'tool', 'a']],
    ['npx --package=one --package two tool', [['one', 'two'], 'tool']],
    ['npm exec -y -- server --flag', [['server'], '', '--flag']],
    ['npm exec server a -- --flag', [['server'], '', 'a', '--flag']],
    ['npm x server', [['server'], '']],
    ['pnpm dlx @scope/server --flag', [['@scope/server'], '', '--flag']],
    ['pnpx server', [['server'], '']],
    ['bunx @scope/server', [['@scope/server'], '']],
    ['bun x server', [['server'], '']],
  ])('%s runs its package', (line, expected) => {
    expect(read(line)).toEqual(expected)
  })

  test.each([
    ['npx'],
    ['npx -y'],
    ['npx -p server'],
    ['npx -c server'],
    ['npx --registry=http://127.0.0.1 server'],
    ['npx -y github:owner/server'],
    ['npx -y owner/server'],
    ['npx -y ./server'],
    ['npx -y /opt/server.tgz'],
    ['npx -y server@npm:other'],
    ['npx -y server@file:..'],
    ['npx -y server@..'],
    ['npx -y server@.'],
    ['npx -y server.tgz'],
    ['npx -y server@1.tar.gz'],
    ['npx -y -p server ../../bin/no-such-program'],
    ['npx -y -p server ..'],
    ['npm exec server --flag'],
    ['npm run server'],
    ['bunx --bun server'],
    ['uvx server'],
    ['docker run server'],
    ['node server.js'],
    ['/opt/bin/npx -y server'],
  ])('%s runs as it is', (line) => {
    expect(read(line)).toBeUndefined()
  })

  test('a program that the project of the working folder has runs as it is', async () => {
    await using workspace = await Workspace.open()
    const project = workspace.path('project')
    const deep = join(project, 'deep')
    mkdirSync(join(project, 'node_modules', '.bin', 'mine'), { recursive: true })
    mkdirSync(deep)
    const lines = ['npx mine', 'npx -y @scope/mine@1', 'npx -p other mine', 'npx other']
    expect(lines.map((line) => read(line, deep) !== undefined)).toEqual([false, false, false, true])
  })

  test.each([
    ['npx server', '.npmrc'],
    ['pnpm dlx server', '.npmrc'],
    ['pnpm dlx server', 'pnpm-workspace.yaml'],
    ['bunx server', '.npmrc'],
    ['bunx server', 'bunfig.toml'],
  ])(
    'below a folder with settings in a file of its launcher it runs as it is: %s, %s',
    async (line, file) => {
      await using workspace = await Workspace.open()
      const deep = workspace.path('deep')
      mkdirSync(deep)
      expect(read(line, deep)).toBeDefined()
      await workspace.write(file, '')
      expect([read(line, deep), read(line, workspace.folder)]).toEqual([undefined, undefined])
    },
  )

  test.each(['memory', 'sequential-thinking'])(
    'in a clone of this repository npx does not run @modelcontextprotocol/server-%s as it is',
    (name) => {
      const line = `npx -y @modelcontextprotocol/server-${name}`
      expect(read(line, REPOSITORY)).toBeDefined()
    },
  )

  test('the .npmrc of the user leaves a package without its launcher', async () => {
    await using workspace = await Workspace.open()
    await workspace.write('.npmrc', '')
    expect(read('npx server', workspace.folder, { HOME: workspace.folder })).toBeDefined()
  })

  test('with settings for another launcher than npm it runs as it is', () => {
    const env = { BUN_CONFIG_REGISTRY: 'http://127.0.0.1/' }
    expect(read('bunx server', EMPTY, env)).toBeUndefined()
  })

  test('on Windows, where programs of packages are batch files, it runs as it is', () => {
    const line = { command: 'npx', args: ['-y', 'server'] }
    expect(withoutLauncher(line, { cwd: EMPTY, env: {}, platform: 'win32' })).toBe(line)
  })
})
