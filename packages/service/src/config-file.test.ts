import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfigFile, withConfigFile } from './config-file.ts'
import { ConfigError } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

let count = 0
function write(text: string, extension = 'yaml'): string {
  const file = join(folder, `config-${count++}.${extension}`)
  writeFileSync(file, text)
  return file
}

describe('a configuration file', () => {
  test('names settings as the environment does, or shorter', () => {
    const file = write(`
# Comments are allowed.
PORT: 3000
toolApproval: ['@writes', files.delete]
limit:
  requests: 100/s
  tool-calls: 6/h
busAccounts: on
AUTH:
demo: { tokens_per_second: 0.5 }
`)
    expect(readConfigFile(file)).toEqual({
      PORT: '3000',
      TOOL_APPROVAL: '@writes,files.delete',
      LIMIT_REQUESTS: '100/s',
      LIMIT_TOOL_CALLS: '6/h',
      BUS_ACCOUNTS: 'on',
      DEMO_TOKENS_PER_SECOND: '0.5',
    })
  })

  test('may be JSON with comments', () => {
    const file = write(
      '{ "port": 3000, // the public one\n "limit": { "requests": "1/s" }, }',
      'json',
    )
    expect(readConfigFile(file)).toEqual({ PORT: '3000', LIMIT_REQUESTS: '1/s' })
  })

  test('yields to the environment, except where that is empty', () => {
    const CONFIG_FILE = write('port: 1\nhost: a\n')
    expect(withConfigFile({ CONFIG_FILE, PORT: '2', HOST: '' })).toEqual({
      CONFIG_FILE,
      PORT: '2',
      HOST: 'a',
    })
    expect(withConfigFile({ CONFIG_FILE: '', PORT: '2' })).toEqual({ CONFIG_FILE: '', PORT: '2' })
  })
})

const faulty: readonly (readonly [string, string, RegExp])[] = [
  ['a list', '- 1\n', /must be settings by their names/],
  ['a text', 'hello\n', /must be settings by their names/],
  [
    'a setting twice',
    'limit: { requests: 1/s }\nlimitRequests: 2/s\n',
    /LIMIT_REQUESTS is set twice/,
  ],
  ['a key twice', 'port: 1\nport: 2\n', /:2:1: is not valid YAML .*unique/],
  ['a list of lists', 'auth: [[keys]]\n', /auth: must be a text, or a list of texts/],
  ['an item with a comma', 'auth: ["a,b"]\n', /auth: must be a text, or a list of texts/],
  ['a tag', 'port: !!js/function 1\n', /:1:\d+: is not valid YAML .*tag/],
  ['an open bracket', 'auth: [keys\n', /:\d:\d+: is not valid YAML/],
  ['an alias of nothing', 'port: *other\n', /Unresolved alias/],
  ['deep nesting', `a: ${'['.repeat(20_000)}`, /nested too deeply|not valid YAML/],
  ['many open sections', 'a: {'.repeat(2_000) + '}'.repeat(2_000), /call stack/],
  ['deep sections', `${'a: {'.repeat(200)}b: 1${'}'.repeat(200)}`, /nested too deeply/],
]

describe('faults of a configuration file', () => {
  test.each(faulty)('%s is a fault with its place', (_name, text, fault) => {
    const file = write(text)
    const read = (): unknown => readConfigFile(file)
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(fault)
    expect(read).toThrow(file)
  })

  test('aliases cannot multiply', () => {
    const level = (index: number): string =>
      `a${index}: &a${index} [${Array.from({ length: 10 }, () => `*a${index - 1}`).join(', ')}]`
    const bomb = ['a0: &a0 x', ...Array.from({ length: 9 }, (_, index) => level(index + 1))]
    expect(() => readConfigFile(write(bomb.join('\n')))).toThrow(/alias/)
  })

  test('all of them are named at once, and a missing file by its setting', () => {
    const file = write('a: [[1]]\nb: [[1]]\n')
    expect(() => readConfigFile(file)).toThrow(/ a: .*\n.* b: /)
    expect(() => readConfigFile('/nowhere.yaml')).toThrow(
      'CONFIG_FILE: there is no file /nowhere.yaml',
    )
  })
})
