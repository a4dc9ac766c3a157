/** The length of a resource's URI in a subscription. */
export const MAX_URI_BYTES = 8 * 1024
/** Subscriptions of one session, or of one `subscriptions/listen` stream. */
export const MAX_SUBSCRIPTIONS = 1_000
/** All their URIs together: each gateway that serves the session holds them. */
export const MAX_SUBSCRIBED_BYTES = 128 * 1024
/** One request; the event loop is blocked while it is parsed. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024
