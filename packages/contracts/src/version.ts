/**
 * Version of the messages on the bus and the socket. Readers ignore what they do not know, so it rises
 * only when something is removed or changes its meaning.
 *
 * 1: the first.
 */
export const CONTRACT_VERSION = 1
