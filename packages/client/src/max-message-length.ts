/** The most characters that the text of a message may have, in UTF-16 units: the host refuses more. */
export const MAX_MESSAGE_LENGTH = 128 * 1024
