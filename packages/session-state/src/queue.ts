import type { LogEntry } from '@mcp-host/contracts'

/** The messages of a session, by their log sequences. */
export interface MessageQueue {
  /** Sequences by the client's ids. */
  readonly messageIds: ReadonlyMap<string, number>
  /** Messages whose turn is not done, in order. */
  readonly unfinished: { has(seq: number): boolean; keys(): Iterable<number> }
}

/** The first user message whose turn is not done, as its log sequence. */
export function nextInput({ unfinished }: Pick<MessageQueue, 'unfinished'>): number | undefined {
  for (const first of unfinished.keys()) return first
  return undefined
}

/** A message whose id is in the log already is ignored. */
export function isRepeated({ messageIds }: MessageQueue, id: string): boolean {
  return messageIds.has(id)
}

/** The unfinished messages that an entry cancels, by their log sequences. */
export function cancelledBy(queue: MessageQueue, { kind, fact }: LogEntry): number[] {
  const { messageIds, unfinished } = queue
  if (kind === 'input') {
    if (fact.replaces === undefined) return []
    // A replaced message and all later ones need no answer. A replaced message that is unknown here is older than all
    // known ones.
    const from = messageIds.get(fact.replaces) ?? 0
    return Array.from(unfinished.keys()).filter((seq) => seq >= from)
  }
  if (kind !== 'control') return []
  if (fact.type === 'session-deleted') return Array.from(unfinished.keys())
  if (fact.type !== 'cancel-requested') return []
  const seq = fact.messageId === undefined ? nextInput(queue) : messageIds.get(fact.messageId)
  return seq !== undefined && unfinished.has(seq) ? [seq] : []
}
