/** Limit for the URI of a resource in a subscription. */
export const MAX_URI_BYTES = 8 * 1024
/** Limit for the subscriptions of one session, or of one `subscriptions/listen` stream. */
export const MAX_SUBSCRIPTIONS = 1_000
/** Limit for the subscriptions of all `subscriptions/listen` streams of a gateway together. */
export const MAX_LISTENED = 20_000
/** Limit for all URIs of a session together, which each of its gateways holds in memory. */
export const MAX_SUBSCRIBED_BYTES = 128 * 1024
/** Limit for one request. Parsing it blocks the event loop. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024
