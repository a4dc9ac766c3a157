import type { Contract } from '@mcp-host/contracts'
import { CONTRACT_VERSION, CONTRACTS } from '@mcp-host/contracts'
import { z } from 'zod'

const HEAD = `# Messages on the bus

Made from the code by \`npm run generate\`; do not edit. Version ${CONTRACT_VERSION}. Parts in braces change.
Every message also carries headers: \`Request-Id\`, \`Parent-Request-Id\`, \`traceparent\`, \`Principal\` and, where
somebody waits, \`Deadline\` (epoch milliseconds); live text goes without. How they play together is in
[ARCHITECTURE.md](../ARCHITECTURE.md).
`

/** Every contract with its subject and schemas, as a document. */
export function busReference(): string {
  const sections = Object.entries(CONTRACTS).map(([name, contract]) => section(name, contract))
  return `${HEAD}\n${sections.join('\n')}`
}

function section(name: string, contract: Contract): string {
  const title = `## ${name}\n\n\`${contract.subject}\``
  if (contract.kind === 'event') {
    const kept =
      contract.durability === 'log'
        ? "event, kept in the session's log"
        : 'event, for whoever listens at that moment'
    return `${title} – ${kept}\n\n${schema(contract.payload)}`
  }
  const by =
    contract.answeredBy === 'group'
      ? 'call, answered by any one replica'
      : 'call, answered by the process that does this work'
  return `${title} – ${by}\n\nRequest:\n\n${schema(contract.request)}\nReply:\n\n${schema(contract.reply)}`
}

function schema(type: z.ZodType): string {
  const { $schema: _, ...rest } = z.toJSONSchema(type, { unrepresentable: 'any', io: 'input' })
  return `\`\`\`json\n${JSON.stringify(rest, undefined, 2)}\n\`\`\`\n`
}
