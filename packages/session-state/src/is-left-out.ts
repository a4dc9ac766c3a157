import type { Input } from './session-state.ts'

/** Whether the state has no content of a message, which an earlier snapshot left out. A message may be files alone. */
export function isLeftOut({ text, attachments }: Input): boolean {
  return text === '' && attachments === undefined
}
