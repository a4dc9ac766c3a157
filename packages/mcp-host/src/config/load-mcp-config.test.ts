import { expect, test } from 'vitest'

import { openWorkspace } from '../../test/workspace.ts'
import { loadMcpConfig } from './load-mcp-config.ts'

test('a file that does not exist is a fault of the configuration', async () => {
  await expect(loadMcpConfig('/nowhere/mcp.json', {})).rejects.toMatchObject({
    code: 'configuration',
    faults: [{ file: '/nowhere/mcp.json', line: 1, column: 1, message: 'does not exist' }],
  })
})

test('a reserved server name is a fault', async () => {
  const workspace = await openWorkspace()
  const file = await workspace.write('mcp.json', '{ "servers": { "llm": { "command": "x" } } }')
  await expect(loadMcpConfig(file, {}, { reservedNames: ['files', 'llm'] })).rejects.toMatchObject({
    faults: [
      {
        path: 'servers.llm',
        message: 'is a reserved server name',
        remedy: 'Choose another: files, llm are built in.',
      },
    ],
  })
  const config = await loadMcpConfig(file, {})
  expect(config.servers).toHaveProperty('llm')
})

test('the relative folder of a server is relative to the file, which may begin with a byte order mark', async () => {
  const workspace = await openWorkspace()
  const text = '\uFEFF{ "servers": { "a": { "command": "x", "cwd": "sub" } } }'
  const config = await loadMcpConfig(await workspace.write('mcp.json', text), {})
  expect(config.servers['a']).toMatchObject({ cwd: workspace.path('sub') })
})
