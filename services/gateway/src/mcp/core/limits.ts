/** Of one request; nobody else is answered while it is read. */
export const MAX_REQUEST_BYTES = 8 * 1024 * 1024
