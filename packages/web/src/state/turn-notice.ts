import type { Turn } from './turn.ts'

/** What screen readers say of the turns. */
export interface TurnNotice {
  /** A sentence; empty: nothing. */
  readonly text: string
  /** A notice with another key is said, also if its text is the same. */
  readonly key: string
  readonly isQuestion: boolean
  /** Ids of the messages whose turns have not ended. */
  readonly awaited: readonly string[]
}

export const NO_NOTICE: TurnNotice = { text: '', key: '', isQuestion: false, awaited: [] }

const AWAITED: ReadonlySet<Turn['state']> = new Set(['unsent', 'queued', 'running', 'waiting'])

/** The notice after a change of the shown turns: of an open question, else of the last turn that was seen to end. */
export function nextNotice(before: TurnNotice, turns: readonly Turn[]): TurnNotice {
  const next = noticeOf(before, turns)
  const isSame = next.key === before.key && next.awaited.join() === before.awaited.join()
  return isSame ? before : next
}

function noticeOf(before: TurnNotice, turns: readonly Turn[]): TurnNotice {
  const open = turns.filter(({ state }) => AWAITED.has(state))
  const awaited = open.map(({ id }) => id)
  const [question] = open.flatMap((turn) => questionOf(turn) ?? [])
  if (question !== undefined) return { ...question, isQuestion: true, awaited }
  const ended = turns.findLast(({ id, state }) => state === 'done' && before.awaited.includes(id))
  if (ended !== undefined) {
    return { text: endOf(ended), key: ended.id, isQuestion: false, awaited }
  }
  // A question that was answered is not open any more.
  return before.isQuestion ? { ...NO_NOTICE, awaited } : { ...before, awaited }
}

function questionOf({ items }: Turn): Pick<TurnNotice, 'text' | 'key'> | undefined {
  const open = items.find((item) => item.kind === 'question' && item.end === undefined)
  if (open?.kind !== 'question') return undefined
  const { server, tool, mode } = open.question
  const name = `${server} ${tool}`
  const text = mode === 'approval' ? `${name} needs your permission.` : `${name} asks you.`
  return { text, key: open.id }
}

function endOf({ outcome }: Turn): string {
  if (outcome === 'cancelled') return 'The answer was stopped.'
  if (outcome === 'failed') return 'The answer failed.'
  if (outcome === 'limit') return 'The answer reached a limit.'
  return 'The answer is finished.'
}
