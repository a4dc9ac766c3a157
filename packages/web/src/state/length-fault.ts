import { MAX_MESSAGE_LENGTH } from '@mcp-host/client'

/** Says that a message is too long; `undefined` if it is not. */
export function lengthFault({ length }: string): string | undefined {
  if (length <= MAX_MESSAGE_LENGTH) return undefined
  const most = MAX_MESSAGE_LENGTH.toLocaleString('en')
  return `This message is too long: at most ${most} characters are allowed. Attach a part of it as a file.`
}
