/**
 * Version of the messages on the bus and the socket. Readers ignore unknown fields, so it rises only when a field is
 * removed or changes its meaning.
 *
 * 1: the first.
 * 2: a server's entry in the catalog names its supervisor and counts only while that one is present.
 * 3: turns are cancelled, wait, and are told apart by branches; outcomes have new values.
 * 4: text as it is written goes out on subjects beside those of the log.
 * 5: a session is given a title or a model by one call, `session.update`, in place of `session.rename`.
 * 6: a message may be files alone, with an empty text.
 */
export const CONTRACT_VERSION = 6
