import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { keySubject, lastOfKey } from './bucket-key.ts'
import { isFenced, toBusError } from './nats-error.ts'

export const SECRET_BUCKET = 'SECRETS'
const BYTES = 32

export interface SecretsDeps {
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  /** Creates the bucket where it is missing. */
  readonly open: () => Promise<unknown>
}

/** The random value of a name, made by the first process that asks. */
export async function readSecret(
  { jetstream, manager, open }: SecretsDeps,
  name: string,
): Promise<Uint8Array> {
  const subject = keySubject(SECRET_BUCKET, name)
  try {
    await open()
    const known = await lastOfKey(manager, SECRET_BUCKET, name)
    if (known !== null) return known.data
    const made = crypto.getRandomValues(new Uint8Array(BYTES))
    await jetstream.publish(subject, made, { expect: { lastSubjectSequence: 0 } })
    return made
  } catch (error) {
    if (!isFenced(error)) throw toBusError(error, subject)
    // Another was faster.
    const first = await lastOfKey(manager, SECRET_BUCKET, name)
    if (first === null) throw toBusError(error, subject)
    return first.data
  }
}
