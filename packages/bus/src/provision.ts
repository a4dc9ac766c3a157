import type { BusLogger } from './nats-bus.ts'
import { connectBus } from './nats-bus.ts'
import { BUCKETS, defineBucket } from '@mcp-host/contracts'
import { z } from 'zod'
import type { Credential } from './connect.ts'

export interface ProvisionOptions {
  readonly url: string
  /** The credential for operators' commands, when the broker has accounts. */
  readonly credential?: Credential | undefined
  readonly replicas: number
  /** How long entries of the audit log are kept. */
  readonly auditMaxAgeMs: number
  readonly logger: BusLogger
}

/** Creates all streams and buckets of the host. Services with bus accounts may not create them. Safe to repeat. */
export async function provision({ auditMaxAgeMs, ...options }: ProvisionOptions): Promise<void> {
  await using bus = await connectBus({ ...options, name: 'provision' })
  const buckets = Object.keys(BUCKETS).map((bucket) =>
    defineBucket(bucket, { record: z.unknown(), what: bucket }),
  )
  await Promise.all([
    ...buckets.map((bucket) => bus.bucket(bucket)),
    bus.counter(),
    bus.audit.open({ maxAgeMs: auditMaxAgeMs }),
  ])
}
