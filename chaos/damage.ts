import { open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bus } from '@mcp-host/bus'
import { generationId, newEnvelope, newSessionId } from '@mcp-host/contracts'

/** Kinds of damage to the newest block file of the session log. */
export const DAMAGE_KINDS = ['truncate', 'overwrite', 'delete'] as const

export interface Damage {
  readonly how: (typeof DAMAGE_KINDS)[number]
  /** Distance from the end of the file at which it is cut or overwritten. */
  readonly bytes: number
}

/** Size of one entry of the filling, below the message limit of nats-server. */
const FILLING_BYTES = 900_000
/** Number of entries, together larger than a block file of nats-server, which is 8 MiB. */
const FILLINGS = 10
const OVERWRITTEN_BYTES = 16

/** Damages the data of a nats-server that is not running. */
export async function damageLog(dataDir: string, { how, bytes }: Damage): Promise<void> {
  const folder = join(dataDir, 'jetstream', '$G', 'streams', 'SESS', 'msgs')
  const blocks = (await readdir(folder)).filter((name) => name.endsWith('.blk'))
  const sorted = blocks.toSorted((one, other) => Number.parseInt(one) - Number.parseInt(other))
  const file = join(folder, sorted.at(-1) ?? '1.blk')
  if (how === 'delete') return rm(file)
  const place = Math.max(0, (await stat(file)).size - bytes)
  if (how === 'truncate') return truncate(file, place)
  await using opened = await open(file, 'r+')
  await opened.write(Buffer.alloc(OVERWRITTEN_BYTES, 0xa5), 0, OVERWRITTEN_BYTES, place)
}

/** Fills the newest block file, so that a new one begins and little is lost with it. */
export async function fillBlock({ sessions }: Pick<Bus, 'sessions'>): Promise<void> {
  const session = newSessionId()
  const content = [{ type: 'text' as const, text: 'x'.repeat(FILLING_BYTES) }]
  for (let count = 1; count <= FILLINGS; count++) {
    const generation = generationId(session, count)
    const outcome = 'completed' as const
    const fact = { generation, outcome, content, provider: 'none', model: 'none' }
    const options = { envelope: newEnvelope('local'), messageId: generation }
    await sessions.append(session, { kind: 'generation', fact }, options)
  }
}
