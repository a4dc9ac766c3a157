import type { QuestionItem } from './turn.ts'

/** What the user did, as the end of a sentence. */
const ANSWERS = { accept: 'answered', decline: 'said no', cancel: 'gave no answer' } as const
/** How a question ended without an answer. */
const OTHER_ENDS = {
  expired: 'Nobody answered in time',
  void: 'No answer is needed any more',
} as const

/** How a question ended, in words. `principalId`: id of the principal of this page, if it is known. */
export function questionEnd(
  { mode }: Pick<QuestionItem['question'], 'mode'>,
  { how, by }: NonNullable<QuestionItem['end']>,
  principalId: string | undefined,
): string {
  if (how === 'expired' || how === 'void') return OTHER_ENDS[how]
  // Readers of a share are not told the user.
  const subject = by === undefined ? 'The user' : by === principalId ? 'You' : by
  return `${subject} ${mode === 'approval' && how === 'accept' ? 'allowed it' : ANSWERS[how]}`
}
