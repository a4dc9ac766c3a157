import * as fc from 'fast-check'
import { askInputs, type ConfigFault, ConfigurationError, parseMcpConfig } from '@mcp-host/mcp-json'
import { expect, test } from 'vitest'
import { anyText, textLike } from './arbitraries.ts'

const name = fc.oneof(fc.constantFrom('web', 'files', 'web'), anyText)
const field = fc.oneof(
  anyText,
  fc.constantFrom('${TOKEN}', '${TOKEN:-x}', '${env:TOKEN}', '${input:key}', '$TOKEN', '${'),
)

const server = fc.record(
  {
    id: name,
    type: fc.constantFrom('stdio', 'http', 'sse', 'websocket', 'ws', 'local', 'remote', 'x'),
    command: field,
    args: fc.array(field, { maxLength: 3 }),
    env: fc.dictionary(name, field, { maxKeys: 3 }),
    envFile: fc.constantFrom('none.env', '/dev/null', '/proc'),
    cwd: field,
    url: fc.oneof(field, fc.constantFrom('https://a.example/mcp', 'wss://a.example')),
    headers: fc.dictionary(name, field, { maxKeys: 3 }),
    scope: fc.constantFrom('shared', 'session'),
    placement: fc.constantFrom('one', 'every'),
    restart: fc.constantFrom('no', 'always'),
    dependencies: fc.array(name, { maxLength: 3 }),
    instances: fc.oneof(fc.nat(), fc.array(fc.record({ weight: fc.double(), url: field }))),
    balance: fc.constantFrom('round-robin', 'weighted', 'x'),
    disabled: fc.boolean(),
    enabled: fc.boolean(),
    tools: fc.array(name, { maxLength: 3 }),
    timeoutMs: fc.double(),
    startTimeoutMs: fc.integer(),
    limits: fc.record({ memoryMb: fc.double(), cpuPercent: fc.integer() }),
  },
  { requiredKeys: [] },
)

const file = fc.record(
  {
    servers: fc.oneof(
      fc.dictionary(name, server, { maxKeys: 4 }),
      fc.array(server, { maxLength: 4 }),
    ),
    mcpServers: fc.dictionary(name, server, { maxKeys: 2 }),
    inputs: fc.array(
      fc.record({
        id: fc.constantFrom('key', 'x', '__proto__'),
        type: fc.constant('promptString'),
        default: anyText,
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['servers'] },
)

const FILE = '/etc/host/mcp.json'
const variables = { TOKEN: 'secret' }

test('an mcp.json is read, or refused with the position and the remedy of every fault', async () => {
  await fc.assert(
    fc.asyncProperty(textLike(file), fc.boolean(), async (text, strict) => {
      try {
        const inputs = await askInputs(text, ({ id }) => `answer to ${id}`, {})
        const { servers, faulty } = parseMcpConfig(text, { file: FILE, variables, inputs, strict })
        expect(Object.getPrototypeOf(servers)).toBe(Object.prototype)
        if (faulty !== undefined) expectPlaces(Object.values(faulty).flat())
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error
        expectPlaces(error.faults)
      }
    }),
  )
})

function expectPlaces(faults: readonly ConfigFault[]): void {
  expect(faults).not.toEqual([])
  for (const fault of faults) {
    expect(fault).toMatchObject({ file: FILE, path: expect.any(String) })
    expect(fault.line).toBeGreaterThanOrEqual(1)
    expect(fault.column).toBeGreaterThanOrEqual(1)
    expect(fault.remedy).not.toBe('')
  }
}

test('a configuration object is read as its JSON text', () => {
  // An object has no lines and columns.
  const told = (faults: readonly ConfigFault[]): unknown =>
    faults.map(({ path, message }) => ({ path, message }))
  const read = (source: string | object): unknown => {
    try {
      const { servers, faulty = {} } = parseMcpConfig(source, { variables })
      return [servers, Object.entries(faulty).map(([key, faults]) => [key, told(faults)])]
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error
      return told(error.faults)
    }
  }
  fc.assert(
    fc.property(file, (config) => {
      expect(read(config)).toEqual(read(JSON.stringify(config)))
    }),
  )
})
