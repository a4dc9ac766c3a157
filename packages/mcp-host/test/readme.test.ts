import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { expect, test } from 'vitest'

import manifest from '../package.json' with { type: 'json' }
import { launch } from '../src/process/launch.ts'
import { CLIENT_INFO } from '../src/server/client-info.ts'
import { openWorkspace } from './workspace.ts'

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

test('the host introduces itself with the version of the package', () => {
  expect(CLIENT_INFO).toEqual({ name: manifest.name, version: manifest.version })
})
