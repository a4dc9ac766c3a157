import type { QuestionItem } from '../state/turn.ts'

/** What the user did, as the end of a sentence; and how a question ended without an answer. */
const ANSWERS = { accept: 'answered', decline: 'said no', cancel: 'gave no answer' } as const
const OTHER_ENDS = {
  expired: 'Nobody answered in time',
  void: 'No answer is needed any more',
} as const

/** How a question ended, in words. `own`: id of the principal of this page, if it is known. */
export function questionEnd(
  { mode }: QuestionItem['question'],
  { how, by }: NonNullable<QuestionItem['end']>,
  own: string | undefined,
): string {
  if (how === 'expired' || how === 'void') return OTHER_ENDS[how]
  const subject = by === undefined || own === undefined || by === own ? 'You' : by
  return `${subject} ${mode === 'approval' && how === 'accept' ? 'allowed it' : ANSWERS[how]}`
}
