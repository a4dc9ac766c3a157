import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { CONTRACTS } from './registry.ts'
import type { Contract } from './contract.ts'
import { Envelope } from './envelope.ts'
import { ErrorInfo } from './error.ts'
import { SHARDS } from './ids.ts'
import { CatalogEntry } from './mcp-server/catalog-entry.ts'
import { formatCursor } from './socket/cursor.ts'
import { Down } from './socket/down.ts'
import { Up } from './socket/up.ts'
import { CONTRACT_VERSION } from './version.ts'

/** The hash of the wire of version 6. */
const HASH = { version: 6, hash: '08ded715073a0256' }

const decide = `The messages on the bus or the socket have changed. Decide:
- old readers understand new messages and new readers old ones: update the hash here;
- else: raise CONTRACT_VERSION, add its line to the history in version.ts, and update the hash here.
Then run \`npm run generate\`.`

const json = (schema: z.ZodType): unknown => z.toJSONSchema(schema, { io: 'input' })

function wire(contract: Contract): unknown {
  const { kind, subject } = contract
  return kind === 'event'
    ? { kind, subject, durability: contract.durability, payload: json(contract.payload) }
    : {
        kind,
        subject,
        answeredBy: contract.answeredBy,
        request: json(contract.request),
        reply: json(contract.reply),
      }
}

test('a change of the wire requires a decision', () => {
  const everything = {
    contracts: Object.entries(CONTRACTS).map(([name, contract]) => [name, wire(contract)]),
    envelope: json(Envelope),
    error: json(ErrorInfo),
    shards: SHARDS,
    up: json(Up),
    down: json(Down),
    catalog: json(CatalogEntry),
    cursor: formatCursor({ seq: 1, part: 2, fence: 3, offset: 4 }),
  }
  const hash = createHash('sha256').update(JSON.stringify(everything)).digest('hex').slice(0, 16)
  expect({ version: CONTRACT_VERSION, hash }, decide).toEqual(HASH)
})
