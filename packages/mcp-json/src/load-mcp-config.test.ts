import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { openWorkspace } from '@mcp-host/mcp-testkit'
import { loadMcpConfig } from './load-mcp-config.ts'

test('a file that does not exist is a fault of the configuration', async () => {
  await expect(loadMcpConfig('/nowhere/mcp.json', {})).rejects.toMatchObject({
    code: 'configuration',
    faults: [{ file: '/nowhere/mcp.json', line: 1, column: 1, message: 'does not exist' }],
  })
})

test('a reserved server name is a fault in strict mode, else the server gets another name', async () => {
  const workspace = await openWorkspace()
  const file = await workspace.write('mcp.json', '{ "servers": { "llm": { "command": "x" } } }')
  const options = { reservedNames: ['files', 'llm'] }
  await expect(loadMcpConfig(file, {}, { ...options, strict: true })).rejects.toMatchObject({
    faults: [
      {
        path: 'servers.llm',
        message: 'is a reserved server name',
        remedy: 'Choose another: files, llm are built in.',
      },
    ],
  })
  const { servers } = await loadMcpConfig(file, {}, options)
  expect(Object.keys(servers)).toEqual([expect.stringMatching(/^llm-[a-z0-9]{6}$/)])
  const config = await loadMcpConfig(file, {})
  expect(config.servers).toHaveProperty('llm')
})

test('a built-in server may have a reserved name, and no program', async () => {
  const workspace = await openWorkspace()
  const entry = { builtIn: 'llm', timeout: 120, tools: { deny: ['llm_chat'] } }
  const text = JSON.stringify({ servers: { llm: entry, other: { ...entry, type: 'built-in' } } })
  const file = await workspace.write('mcp.json', text)
  const options = { reservedNames: ['files', 'llm'], strict: true }
  const config = { type: 'built-in', builtIn: 'llm', timeoutMs: 120_000, tools: entry.tools }
  const { servers } = await loadMcpConfig(file, {}, options)
  expect(servers).toEqual({ llm: config, other: config })
  const docs = { builtIn: 'files', roots: ['docs'], writable: true }
  const others = await workspace.write('mcp.json', JSON.stringify({ servers: { files: docs } }))
  expect((await loadMcpConfig(others, {}, options)).servers['files']).toEqual({
    type: 'built-in',
    builtIn: 'files',
    writable: true,
    roots: [pathToFileURL(workspace.path('docs')).href],
  })
  const search = { provider: 'brave', key: '${env:KEY}' }
  const web = { builtIn: 'web', allowedOrigins: ['http://wiki:80'], search }
  const withWeb = await workspace.write('mcp.json', JSON.stringify({ servers: { web } }))
  expect((await loadMcpConfig(withWeb, { KEY: 'top' }, options)).servers['web']).toEqual({
    type: 'built-in',
    ...web,
    search: { provider: 'brave', key: 'top' },
    secrets: { KEY: 'top' },
  })
  const wrongName = JSON.stringify({ servers: { files: { builtIn: 'llm' } } })
  const renamed = await loadMcpConfig(
    await workspace.write('mcp.json', wrongName),
    {},
    {
      reservedNames: options.reservedNames,
    },
  )
  expect(Object.keys(renamed.servers)).toEqual([expect.stringMatching(/^files-\w{6}$/)])
  const wrongs = [
    { builtIn: 'web', allowedOrigins: ['http://wiki/private'] },
    { builtIn: 'web', search: { provider: 'brave' } },
    { builtIn: 'web', search: { provider: 'searxng', key: 'a' } },
    { builtIn: 'lmm' },
    { builtIn: 'files' },
    { builtIn: 'llm', command: 'node' },
    { type: 'built-in' },
  ]
  for (const wrong of wrongs) {
    const faulty = await workspace.write('mcp.json', JSON.stringify({ servers: { a: wrong } }))
    await expect(loadMcpConfig(faulty, {}, options)).rejects.toThrow(
      /builtIn|command|at least one folder|must have a "(key|url)"|must be an origin/,
    )
  }
})

test('the relative folder of a server is relative to the file, which may begin with a byte order mark', async () => {
  const workspace = await openWorkspace()
  const text = '\uFEFF{ "servers": { "a": { "command": "x", "cwd": "sub" } } }'
  const config = await loadMcpConfig(await workspace.write('mcp.json', text), {})
  expect(config.servers['a']).toMatchObject({ cwd: workspace.path('sub') })
})

test.each([
  ['UTF-8', Buffer.from('\uFEFF{ "servers": { "a": { "command": "ä" } } }')],
  [
    'UTF-16 of little endian',
    Buffer.from('\uFEFF{ "servers": { "a": { "command": "ä" } } }', 'utf16le'),
  ],
  [
    'UTF-16 of big endian',
    Buffer.from('\uFEFF{ "servers": { "a": { "command": "ä" } } }', 'utf16le').swap16(),
  ],
])('a file in %s with a byte order mark is read', async (_, bytes) => {
  const workspace = await openWorkspace()
  const file = await workspace.write('mcp.json', '')
  await writeFile(file, bytes)
  expect((await loadMcpConfig(file, {})).servers).toMatchObject({ a: { command: 'ä' } })
})
