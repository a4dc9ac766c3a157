/** Refusals of the host, which calls a chat a session, in the words of the page. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['this session was deleted', 'this chat was deleted'],
  ['this session has expired; begin another', 'this chat has expired; begin another'],
])

/** Why the host refuses a chat. A refusal that the page does not know keeps the words of the host. */
export function refusalText(message: string): string {
  return REFUSALS.get(message) ?? message
}
