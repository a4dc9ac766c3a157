import type { Broker } from './broker.ts'
import { keySubject, lastOfKey } from './bucket-key.ts'
import { isFenced, toBusError } from './nats-error.ts'

export const SECRET_BUCKET = 'SECRETS'
const BYTES = 32

/** The random value of a name, made by the first process that reads it. `open` creates the bucket where it is missing. */
export async function readSecret(
  { jetstream, manager }: Broker,
  open: () => Promise<unknown>,
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
    // Another process created the secret first.
    const first = await lastOfKey(manager, SECRET_BUCKET, name)
    if (first === null) throw toBusError(error, subject)
    return first.data
  }
}
