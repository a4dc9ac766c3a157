/** The limit for the text of a message, in UTF-16 units. A copy of that in the contracts, which would bring zod into pages. */
export const MAX_MESSAGE_LENGTH = 128 * 1024
