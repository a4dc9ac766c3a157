import { describe, expect, test } from 'vitest'

import { ConfigurationError, type ConfigFault } from '../errors/configuration-error.ts'
import { parseMcpConfig } from './parse-mcp-config.ts'

const variables = { TOKEN: 'secret', EMPTY: '', TWICE: '${TOKEN}' }
const parse = (text: string) => parseMcpConfig(text, { file: '/etc/host/mcp.json', variables })

function faultsOf(text: string): readonly ConfigFault[] {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults
    throw error
  }
  return []
}

const lines = (...text: string[]): string => text.join('\n')
const server = (fields: string): string => lines('{ "servers": {', `  "web": { ${fields} }`, '} }')

describe('a configuration', () => {
  test('may have comments, trailing commas, and both spellings of "servers"', () => {
    const text = `{
      // for editors
      "$schema": "./mcp.schema.json",
      "servers": { "one": { "command": "node", "args": ["a.js",], }, },
      /* as other programs write it */
      "mcpServers": { "Two_2-b": { "type": "stdio", "command": "./run", "cwd": "sub" } },
    }`
    expect(parse(text).servers).toEqual({
      one: { type: 'stdio', command: 'node', args: ['a.js'], env: {}, cwd: '/etc/host' },
      'Two_2-b': { type: 'stdio', command: './run', args: [], env: {}, cwd: '/etc/host/sub' },
    })
  })

  test('gives time-outs in seconds or in milliseconds', () => {
    const timeoutOf = (field: string) => parse(server(`"command": "a", ${field}`)).servers['web']
    expect(timeoutOf('"timeout": 1.5')).toMatchObject({ timeoutMs: 1500 })
    expect(timeoutOf('"timeoutMs": 1500')).toMatchObject({ timeoutMs: 1500 })
  })

  test('has its variables expanded in every string, once', () => {
    const text = server(
      '"command": "${NONE:-node}", "args": ["--key=${TOKEN}", "${TWICE}", "$HOME", "${EMPTY:-x}"], ' +
        '"env": { "KEY": "${env:TOKEN}", "NONE": "${NONE:-}" }, "cwd": "/${TOKEN}"',
    )
    expect(parse(text).servers['web']).toEqual({
      type: 'stdio',
      command: 'node',
      args: ['--key=secret', '${TOKEN}', '$HOME', 'x'],
      env: { KEY: 'secret', NONE: '' },
      cwd: '/secret',
    })
  })

  test('tells all its faults at once, in the order of the file', () => {
    const text = lines(
      '{ "mcpServers": {',
      '  "a b": { "command": 7, "colour": "red" },',
      '  "llm": { "command": "x", "args": ["${ONE}", 2] },',
      '  "web": { "command": "${ONE}${TWO}" } } }',
    )
    const found = faultsOf(text).map(({ line, column, path }) => [line, column, path])
    expect(found).toEqual([
      [2, 3, 'mcpServers.a b'],
      [2, 23, 'mcpServers.a b.command'],
      [2, 26, 'mcpServers.a b.colour'],
      [3, 3, 'mcpServers.llm'],
      [3, 37, 'mcpServers.llm.args[0]'],
      [3, 47, 'mcpServers.llm.args[1]'],
      [4, 23, 'mcpServers.web.command'],
      [4, 23, 'mcpServers.web.command'],
    ])
  })

  test('is described with file, place, field and remedy, and without its values', () => {
    const text = server('"command": ["secret"]')
    expect(() => parse(text)).toThrow(
      'the MCP configuration has one fault:\n' +
        '  /etc/host/mcp.json:2:23 servers.web.command: must be a string. ' +
        'Give the program to start, as in "command": "node".',
    )
  })

  const table: [
    name: string,
    text: string,
    line: number,
    column: number,
    path: string,
    say: string,
  ][] = [
    ['nothing at all', '', 1, 1, '', 'is not valid JSON: value expected'],
    ['a missing comma', lines('{ "servers": {}', '  "x": 1 }'), 2, 3, '', 'comma expected'],
    ['a list', '\n []', 2, 2, '', 'must be an object'],
    ['no servers', ' {}', 1, 2, 'servers', 'is missing'],
    ['servers in a list', '{ "servers": [] }', 1, 14, 'servers', 'must be an object'],
    ['an unknown top field', '{ "servers": {}, "inputs": [] }', 1, 18, 'inputs', 'is not a known'],
    [
      'a server twice in one object',
      lines('{ "servers": {', '  "a": { "command": "x" },', '  "a": { "command": "y" } } }'),
      3,
      3,
      'servers.a',
      'is there twice',
    ],
    [
      'a server in both spellings',
      lines(
        '{ "servers": { "a": { "command": "x" } },',
        '"mcpServers": { "a": { "command": "x" } } }',
      ),
      2,
      17,
      'mcpServers.a',
      'is in "servers" too',
    ],
    [
      'a field twice',
      server('"command": "a", "command": "b"'),
      2,
      28,
      'servers.web.command',
      'twice',
    ],
    [
      'a variable name twice',
      server('"command": "a", "env": { "A": "1", "A": "2" }'),
      2,
      47,
      'servers.web.env.A',
      'twice',
    ],
    [
      'a dot in a name',
      '{ "servers": { "a.b": { "command": "x" } } }',
      1,
      16,
      'servers.a.b',
      'not a valid',
    ],
    [
      'an empty name',
      '{ "servers": { "": { "command": "x" } } }',
      1,
      16,
      'servers.',
      'not a valid',
    ],
    [
      'a reserved name',
      '{ "servers": { "files": { "command": "x" } } }',
      1,
      16,
      'servers.files',
      'reserved',
    ],
    [
      'a server that is text',
      '{ "servers": { "a": "x" } }',
      1,
      21,
      'servers.a',
      'must be an object',
    ],
    ['no command', server('"args": []'), 2, 10, 'servers.web.command', 'is missing'],
    [
      'an empty command',
      server('"command": ""'),
      2,
      23,
      'servers.web.command',
      'must not be empty',
    ],
    ['a NUL', server('"command": "a", "args": ["\\u0000"]'), 2, 37, 'servers.web.args[0]', 'NUL'],
    [
      'args in one text',
      server('"command": "a", "args": "-x"'),
      2,
      36,
      'servers.web.args',
      'a list',
    ],
    [
      'a number as a variable',
      server('"command": "a", "env": { "PORT": 80 }'),
      2,
      45,
      'servers.web.env.PORT',
      'must be a string',
    ],
    [
      'a variable name that no shell allows',
      server('"command": "a", "env": { "a-b": "" }'),
      2,
      37,
      'servers.web.env.a-b',
      'is not a valid variable name',
    ],
    [
      'an unknown field',
      server('"command": "a", "dir": "x"'),
      2,
      28,
      'servers.web.dir',
      'not a known',
    ],
    [
      'a remote type',
      server('"type": "http", "url": "x"'),
      2,
      20,
      'servers.web.type',
      'not supported yet',
    ],
    ['a URL alone', server('"url": "x"'), 2, 19, 'servers.web.url', 'not supported yet'],
    [
      'an unknown type',
      server('"type": "pipe", "command": "a"'),
      2,
      20,
      'servers.web.type',
      'must be "stdio"',
    ],
    [
      'no time',
      server('"command": "a", "timeout": 0'),
      2,
      39,
      'servers.web.timeout',
      'more than 0',
    ],
    [
      'a time past what timers hold',
      server('"command": "a", "timeoutMs": 2147483648'),
      2,
      41,
      'servers.web.timeoutMs',
      'must be at most 2147483647',
    ],
    [
      'two times',
      server('"command": "a", "timeout": 1, "timeoutMs": 1'),
      2,
      55,
      'servers.web.timeoutMs',
      'contradicts "timeout"',
    ],
    [
      'an unset variable',
      server('"command": "${NO}"'),
      2,
      23,
      'servers.web.command',
      'uses NO, which is not set',
    ],
    [
      'an unset variable deep inside',
      server('"command": "a", "env": { "A": "${env:NO}" }'),
      2,
      42,
      'servers.web.env.A',
      'uses NO, which is not set',
    ],
    [
      'an unknown reference',
      server('"command": "${input:x}"'),
      2,
      23,
      'servers.web.command',
      '${input:x}',
    ],
    ['an open reference', server('"command": "${HOME"'), 2, 23, 'servers.web.command', '${HOME'],
    [
      'a command that expands to nothing',
      server('"command": "${EMPTY}"'),
      2,
      23,
      'servers.web.command',
      'is empty once',
    ],
    ['Windows line ends', '{\r\n"servers":\r\n 1}', 3, 2, 'servers', 'must be an object'],
  ]

  test.each(table)('with %s is faulty there', (_name, text, line, column, path, message) => {
    const [fault, ...others] = faultsOf(text)
    expect(others).toEqual([])
    expect(fault).toMatchObject({ file: '/etc/host/mcp.json', line, column, path })
    expect(fault?.message).toContain(message)
    expect(fault?.remedy).toMatch(/\w.*\.$/)
  })
})
