// Fields as people, editors and other clients leave them. In strict mode each of them is a fault.
import { expect, test } from 'vitest'

import { openWorkspace } from '@mcp-host/mcp-testkit'
import { ConfigurationError } from '../document/configuration-error.ts'
import { parseMcpConfig, type ParseOptions } from '../parse-mcp-config.ts'

const variables = { HOME: '/home/me', TOKEN: 'abc\n', EMPTY: '' }
const read = (fields: object, options: ParseOptions = {}) => {
  const file = '/etc/host/mcp.json'
  const text = JSON.stringify({ servers: { s: fields } })
  const { servers, faulty } = parseMcpConfig(text, { file, variables, ...options })
  return servers['s'] ?? faulty
}
const C = { command: 'node' }
const U = { url: 'http://x/mcp' }

test.each<[string, object, object]>([
  ['~ as the program', { command: '~/bin/s' }, { command: '/home/me/bin/s' }],
  ['~ alone as the folder', { ...C, cwd: '~' }, { cwd: '/home/me' }],
  ['$HOME in the folder', { ...C, cwd: '$HOME/x' }, { cwd: '/home/me/x' }],
  [
    '~ in arguments',
    { ...C, args: ['~/a', '--b=~/c', 'd~/e', '~user/f'] },
    { args: ['/home/me/a', '--b=/home/me/c', 'd~/e', '~user/f'] },
  ],
  [
    '$HOME in arguments',
    { ...C, args: ['$HOME/a', '$HOMER/b'] },
    { args: ['/home/me/a', '$HOMER/b'] },
  ],
  ['~ in a root', { ...C, roots: ['~/docs'] }, { roots: ['file:///home/me/docs'] }],
  [
    'numbers and booleans as arguments',
    { ...C, args: ['-p', 8080, true] },
    { args: ['-p', '8080', 'true'] },
  ],
  [
    'null for fields',
    { ...C, args: null, env: null, cwd: null },
    { args: [], env: {}, cwd: '/etc/host' },
  ],
  ['an empty list as an object', { ...C, env: [] }, { env: {} }],
  [
    'names of variables with signs',
    { ...C, env: { 'MY-KEY': 'v', 'my.key': 'w', 'ProgramFiles(x86)': 'x' } },
    { env: { 'MY-KEY': 'v', 'my.key': 'w', 'ProgramFiles(x86)': 'x' } },
  ],
  [
    'white space around values',
    { command: ' node\n', type: ' stdio ' },
    { type: 'stdio', command: 'node' },
  ],
  ['a line break after an address', { url: 'http://x/mcp\r\n' }, { url: 'http://x/mcp' }],
  [
    'a line break in a variable of a header',
    { ...U, headers: { A: 'Bearer ${TOKEN}' } },
    { headers: { A: 'Bearer abc' } },
  ],
  [
    'a line break after a variable',
    { ...C, env: { A: ' b \n', PEM: 'one\ntwo\n' } },
    { env: { A: ' b', PEM: 'one\ntwo\n' } },
  ],
  [
    'an empty program beside an address',
    { ...U, command: '', args: [], env: {} },
    { type: 'http', url: 'http://x/mcp' },
  ],
  [
    'an empty address beside a program',
    { ...C, url: '', headers: {} },
    { type: 'stdio', command: 'node' },
  ],
  ['a text for true', { ...C, disabled: 'false' }, { command: 'node' }],
  ['"environment"', { ...C, environment: { A: 'b' } }, { env: { A: 'b' } }],
  [
    'a list as the program',
    { command: ['node', 'a.js', '-x'] },
    { command: 'node', args: ['a.js', '-x'] },
  ],
  ['"transportType"', { ...U, transportType: 'sse' }, { type: 'sse' }],
  ['a default with a single dash', { url: '${NONE-http://x}/mcp' }, { url: 'http://x/mcp' }],
  [
    'an empty value beside a single dash',
    { ...C, args: ['${EMPTY-a}', '${EMPTY:-b}'] },
    { args: ['', 'b'] },
  ],
])('%s is read as it is meant', (_, fields, expected) => {
  expect(read(fields)).toMatchObject(expected)
})

test.each([
  [
    'http',
    [
      'HTTP',
      'streamableHttp',
      'streamable_http',
      'Streamable-HTTP',
      'http-stream',
      'streamable',
      'httpStreaming',
    ],
  ],
  ['sse', ['SSE', 'Sse', 'http+sse']],
] as const)('the type %s has many spellings', (type, spellings) => {
  for (const spelling of spellings) {
    expect(read({ ...U, type: spelling }), spelling).toMatchObject({ type })
    expect(read({ ...U, transport: spelling }), spelling).toMatchObject({ type })
  }
})

test('a server that is disabled by a text is left out', () => {
  expect(read({ ...C, disabled: 'true' })).toBeUndefined()
})

test.each([
  ['npx -y @a/server', 'npx', ['-y', '@a/server']],
  ['uvx  a-server --name "A B" \'c d\'', 'uvx', ['a-server', '--name', 'A B', 'c d']],
  ['"C:\\\\Program Files\\\\node.exe" a.js', 'C:\\Program Files\\node.exe', ['a.js']],
])('the line %s in "command" is a program with arguments', (command, program, args) => {
  expect(read({ command, args: ['last'] })).toMatchObject({
    command: program,
    args: [...args, 'last'],
  })
})

test.each(['C:\\Program Files\\nodejs\\node.exe', '\\\\server\\share'])(
  'the program %s is no line',
  (command) => {
    expect(read({ command })).toMatchObject({ command, args: [] })
  },
)

test('a program in a folder with spaces is no line', async () => {
  const workspace = await openWorkspace()
  const command = await workspace.write('run me.sh', '')
  expect(read({ command })).toMatchObject({ command, args: [] })
})

test.each(['cd x && node y', 'node a | tee b', 'node $(pwd)/a'])(
  'the shell line %s is refused with the line to write',
  (command) => {
    expect(read({ command })).toEqual({
      s: [
        expect.objectContaining({
          message: 'is a line for a shell, and no shell runs here',
          remedy: expect.stringContaining('"args": ["-c", "…"]'),
        }),
      ],
    })
  },
)

test.each<object>([
  { ...C, args: [8080] },
  { ...C, args: null },
  { ...C, disabled: 'true' },
  { ...U, type: 'HTTP' },
  { ...U, command: '' },
])('%j is a fault in strict mode', (fields) => {
  expect(() => read(fields, { strict: true })).toThrow(ConfigurationError)
})
