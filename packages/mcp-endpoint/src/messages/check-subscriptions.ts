import { LOCAL } from '@mcp-host/contracts'
import { Holdings } from '@mcp-host/limits'
import { MAX_LISTENED, MAX_SUBSCRIBED_BYTES, MAX_SUBSCRIPTIONS, MAX_URI_BYTES } from './limits.ts'
import { JsonRpcCode } from '@mcp-host/mcp'
import { JsonRpcError } from './json-rpc.ts'

const bytes = new TextEncoder()

/** Throws `JsonRpcError` for too many subscriptions. `field`: the parameter at fault. */
export function checkSubscriptions(uris: readonly string[], field: string): void {
  if (uris.length > MAX_SUBSCRIPTIONS) {
    throw refusal(`${field}: at most ${MAX_SUBSCRIPTIONS} subscriptions; end some first`)
  }
  let sum = 0
  for (const uri of uris) {
    const { length } = bytes.encode(uri)
    if (length > MAX_URI_BYTES) {
      throw refusal(
        `${field}: a URI of ${length} bytes; at most ${MAX_URI_BYTES} can be subscribed to`,
      )
    }
    sum += length
  }
  if (sum > MAX_SUBSCRIBED_BYTES) {
    throw refusal(
      `${field}: the URIs of all subscriptions have at most ${MAX_SUBSCRIBED_BYTES} bytes; end some first`,
    )
  }
}

/** Counts the subscriptions of the streams of one gateway. */
export class SubscriptionCount {
  readonly #held = new Holdings(MAX_LISTENED, LOCAL.id)

  /** Counts the subscriptions of a stream until disposed. Throws `JsonRpcError` when there are too many. */
  take(principal: string, count: number): Disposable {
    const exceeded = count > 0 ? this.#held.exceeded(principal, count) : undefined
    if (exceeded === 'own') {
      throw refusal(`at most ${this.#held.ownLimit} subscriptions of your streams; end some first`)
    }
    if (exceeded === 'all') {
      const message = `the subscriptions of all clients here are more than ${MAX_LISTENED}; try again later`
      throw new JsonRpcError(JsonRpcCode.unavailable, message, { data: { retryable: true } })
    }
    return this.#held.hold(principal, count)
  }
}

function refusal(message: string): JsonRpcError {
  return new JsonRpcError(JsonRpcCode.invalidParams, message)
}
