import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { BusError } from '@mcp-host/contracts'

/** JetStream's codes for "wrong last sequence": another writer came first. */
const WRONG_LAST_SEQUENCE = new Set([10071, 10164])

export function isFenced(error: unknown): boolean {
  return error instanceof JetStreamApiError && WRONG_LAST_SEQUENCE.has(error.code)
}

/** JetStream's codes for an account, a server and a disk without room. */
const NO_ROOM = new Set([10002, 10023, 10047])
/** JetStream's code for "the store failed", which may have other reasons too. */
const STORE_FAILED = 10077

export function isFull(error: unknown): error is JetStreamApiError {
  if (!(error instanceof JetStreamApiError)) return false
  const { code, message } = error
  return NO_ROOM.has(code) || (code === STORE_FAILED && /maximum|no space/.test(message))
}

/** JetStream's code for replicas without a cluster. */
const ALONE = 10074

export function isAlone(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === ALONE
}

/** JetStream's codes for a stream and a consumer that do not exist. */
const MISSING = new Set([10059, 10014])

export function isMissing(error: unknown): boolean {
  return error instanceof JetStreamApiError && MISSING.has(error.code)
}

/** JetStream's code for a message whose first attempt is still being replicated; a retry learns the outcome. */
const IN_PROCESS = 10158

/** Whether the broker refused the content of a request, so that retries are useless. */
export function isFinal(error: unknown): boolean {
  // From 500 on: no leader, no resources, stream restarting.
  if (error instanceof JetStreamApiError) return error.status < 500 && error.code !== IN_PROCESS
  return (
    error instanceof JetStreamError ||
    error instanceof errors.PermissionViolationError ||
    // The message is too large for the broker.
    error instanceof errors.InvalidArgumentError
  )
}

/** Converts the error of a request to `partner` to a `BusError`. */
export function toBusError(error: unknown, partner: string): BusError {
  if (error instanceof BusError) return error
  if (error instanceof errors.NoRespondersError) {
    return new BusError('unavailable', `no ${partner} answers right now`, { cause: error })
  }
  if (error instanceof errors.InvalidArgumentError) {
    const message = `the request to the ${partner}: ${error.message}`
    return new BusError('invalid', message, { cause: error })
  }
  return new BusError('deadline', `the ${partner} did not answer in time`, { cause: error })
}
