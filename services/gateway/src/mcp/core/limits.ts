/** Of the URI of a resource: longer ones cannot be subscribed to. */
export const MAX_URI_BYTES = 8 * 1024
/** Of one session, or of one stream of `subscriptions/listen`. */
export const MAX_SUBSCRIPTIONS = 1_000
/** Of the URIs of all these: each gateway that serves the session holds them. */
export const MAX_SUBSCRIBED_BYTES = 128 * 1024
/** Of one request; nobody else is answered while it is read. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024
