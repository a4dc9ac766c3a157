import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from '@mcp-host/contracts'
import * as contracts from '@mcp-host/contracts'
import { z } from 'zod'
import { readDeclarations } from './read-declarations.ts'

const SOURCES = join(import.meta.dirname, '../../packages/contracts/src')

const HEAD = `# Messages on the bus

Made from the code by \`npm run generate\`; do not edit. Version ${contracts.CONTRACT_VERSION}. Parts of a subject in braces are parameters.
[bus.schema.json](bus.schema.json) has the JSON Schema of every request, answer and payload.
Every message also carries headers: \`Request-Id\`, \`Parent-Request-Id\`, \`traceparent\`, \`Principal\` and, where
a late request must not be begun, \`Expires-At\` (epoch milliseconds by the clock of nats-server; \`Deadline\` is the same
for receivers of earlier versions); live text carries none. [ARCHITECTURE.md](../../ARCHITECTURE.md)
describes the order of the messages.

| Delivery | |
| --- | --- |
| log | appended to the log of the session and kept |
| live | sent once to the processes that listen at that moment; may be lost |
| call, any | one reply, from any one replica |
| call, owner | one reply, from the one process that does this work; without such a process the call fails at once |
| MCP, any or owner | the same, with a body of MCP JSON that the bus does not parse, and possibly several replies |

| Message | Subject | From | To | Delivery | Payload or request | Reply | Purpose |
| --- | --- | --- | --- | --- | --- | --- | --- |
`

/** The first sentence about each exported constant of the contracts. */
function readPurposes(): ReadonlyMap<string, string> {
  const files = globSync('**/*.ts', { cwd: SOURCES, exclude: ['**/*.test.ts'] })
  const declarations = files.flatMap((file) =>
    readDeclarations(readFileSync(join(SOURCES, file), 'utf8')),
  )
  return new Map(
    declarations
      .filter(({ kind }) => kind === 'const')
      .map(({ name, summary }) => [name, summary.replaceAll('|', '\\|')]),
  )
}

const schemaNames = new Map(
  Object.entries(contracts).flatMap(([name, value]) =>
    value instanceof z.ZodType ? [[value as z.ZodType, name]] : [],
  ),
)

/** A table of every message. */
export function busReference(): string {
  const purposes = readPurposes()
  const rows = Object.entries(contracts.CONTRACTS).map(([name, contract]) => {
    const [payload, reply] = schemasOf(contract)
    const cells = [
      `\`${name}\``,
      `\`${contract.subject}\``,
      contract.from.join(', '),
      contract.to.join(', '),
      deliveryOf(contract),
      describe(payload),
      reply === undefined ? '' : describe(reply),
      purposes.get(name),
    ]
    return `| ${cells.join(' | ')} |\n`
  })
  return HEAD + rows.join('')
}

/** The JSON Schemas of every message, for programs in other languages. */
export function busSchemas(): string {
  const messages = Object.entries(contracts.CONTRACTS).map(([name, contract]) => {
    const { subject } = contract
    const schemas =
      contract.kind === 'event'
        ? { payload: json(contract.payload) }
        : { request: json(contract.request), reply: json(contract.reply) }
    return `${JSON.stringify(name)}:${JSON.stringify({ subject, kind: contract.kind, ...schemas })}`
  })
  // A message to a line, so that a change shows which message it is of.
  return `{"version":${contracts.CONTRACT_VERSION},"messages":{\n${messages.join(',\n')}\n}}\n`
}

function schemasOf(contract: Contract): [z.ZodType, z.ZodType?] {
  return contract.kind === 'event' ? [contract.payload] : [contract.request, contract.reply]
}

function deliveryOf(contract: Contract): string {
  if (contract.kind === 'event') return contract.durability
  const answerer = contract.answeredBy === 'group' ? 'any' : 'owner'
  return `${contract.kind === 'call' ? 'call' : 'MCP'}, ${answerer}`
}

/** The name of an exported schema, else its fields. */
function describe(schema: z.ZodType): string {
  const name = schemaNames.get(schema)
  return name === undefined ? `{${fieldsOf(schema).join(', ')}}` : `\`${name}\``
}

function fieldsOf(schema: z.ZodType): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape)
  if (schema instanceof z.ZodUnion) {
    const options = schema.options as readonly z.ZodType[]
    return [...new Set(options.flatMap(fieldsOf))]
  }
  throw new Error('A message is an object, or one of several objects')
}

function json(type: z.ZodType): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(type, { unrepresentable: 'any', io: 'input' })
  return rest
}
