import { expect, test } from 'vitest'

import { type ConfigFault, ConfigurationError } from './document/configuration-error.ts'
import { isComplete } from './written-config.ts'
import { parseMcpConfig } from './parse-mcp-config.ts'

const INHERITED = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty']

const faultsOf = (source: string | object): readonly string[] => {
  const told = (faults: readonly ConfigFault[]): readonly string[] =>
    faults.map(({ file, path, message }) => `${file} ${path} ${message}`)
  try {
    const { faulty = {} } = parseMcpConfig(source, { file: '/etc/mcp.json' })
    return told(Object.values(faulty).flat())
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    return told(error.faults)
  }
}

const server = (fields: object): string => JSON.stringify({ servers: { a: fields } })

test.each(INHERITED)('an unset variable ${%s} is a fault', (name) => {
  for (const text of [`\${${name}}`, `\${env:${name}}`]) {
    const [fault, ...others] = faultsOf(server({ command: 'x', args: [text] }))
    expect([fault, others]).toEqual([expect.stringContaining(`uses ${name}, which is not set`), []])
  }
  const { servers } = parseMcpConfig(server({ command: 'x', args: [`$${name}`, `\${${name}:-y}`] }))
  expect(servers['a']).toMatchObject({ args: [`$${name}`, 'y'] })
})

test.each(INHERITED)('the type %s is a fault, as every unknown type is', (type) => {
  expect(faultsOf(server({ type, command: 'x' }))).toEqual(
    faultsOf(server({ type: 'nothing', command: 'x' })),
  )
  expect(isComplete({ servers: { a: { type } } })).toBe(false)
})

test.each(INHERITED)('the field %s is unknown and ignored', (field) => {
  const fields = JSON.stringify({ servers: { a: { command: 'x', [field]: { a: 1 } } } })
  const warnings: string[] = []
  parseMcpConfig(fields, { onWarning: ({ path }) => warnings.push(path) })
  expect(warnings).toEqual([`servers.a.${field}`])
})

test.each(INHERITED.filter((name) => name !== '__proto__'))('a server may be called %s', (name) => {
  const { servers } = parseMcpConfig({ servers: { [name]: { command: 'x' } } })
  expect(Object.keys(servers)).toEqual([name])
})

test('a server name of more than 64 characters is shortened with a warning, and refused under strict reading', () => {
  const long = 'n'.repeat(65)
  const config = { servers: { [long]: { command: 'x' }, [`${long}2`]: { command: 'x' } } }
  const warnings: string[] = []
  const { servers } = parseMcpConfig(config, {
    onWarning: ({ message }) => warnings.push(message),
  })
  const names = Object.keys(servers)
  expect(new Set(names).size).toBe(2)
  for (const name of names) expect(name).toMatch(/^n{57}-\w{6}$/)
  expect(warnings).toHaveLength(2)
  expect(() => parseMcpConfig(config, { strict: true })).toThrow(ConfigurationError)
})

test.each([101, 100_000, 1_000_000])(
  'nesting of %i levels is one fault with its position',
  (depth) => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      const nested = `${open?.repeat(depth)}1${close?.repeat(depth)}`
      const text = `{"servers": {"a": {"command": "x", "b": ${nested}}}}`
      expect(faultsOf(text)).toEqual(['/etc/mcp.json  is nested more than 100 levels deep'])
      expect(faultsOf(open?.repeat(depth) ?? '')).toHaveLength(1)
    }
  },
)

test('an object nested too deep to be written as JSON is a fault', () => {
  let nested: unknown = 1
  for (let level = 0; level < 100_000; level++) nested = [nested]
  expect(faultsOf({ servers: { a: { command: 'x', b: nested } } })).toEqual([
    expect.stringContaining('is nested too deeply'),
  ])
})

test('nesting as deep as in real files is accepted', () => {
  const nested = `${'['.repeat(90)}1${']'.repeat(90)}`
  expect(faultsOf(`{"servers": {"a": {"command": "x", "b": ${nested}}}}`)).toEqual([])
})
