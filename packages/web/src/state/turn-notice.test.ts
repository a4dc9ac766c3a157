import { expect, test } from 'vitest'
import { NO_NOTICE, nextNotice } from './turn-notice.ts'
import type { QuestionItem, Turn } from './turn.ts'
import { newTurn } from './turn.ts'

const turn = (id: string, state: Turn['state'], more: Partial<Turn> = {}): Turn =>
  newTurn(id, 'hi', { state, ...more })
const asks = (
  mode: 'approval' | 'form',
  end?: Pick<QuestionItem, 'end'>,
  id = 'q',
): { readonly items: readonly [QuestionItem] } => {
  const kind = mode === 'approval' ? 'approval' : 'elicitation'
  const about = { server: 'files', tool: 'remove', callId: 'c', message: 'Sure?', expiresAt: 0 }
  const question = { state: 'required', id, kind, mode, ...about } as const
  return { items: [{ kind: 'question', id, question, ...end }] }
}

/** The texts after each change of the turns. */
function said(...changes: (readonly Turn[])[]): string[] {
  let notice = NO_NOTICE
  return changes.map((turns) => {
    notice = nextNotice(notice, turns)
    return notice.text
  })
}

test('the end of an answer is said when the turn was seen before it', () => {
  const [running, done] = [turn('m', 'running'), turn('m', 'done', { outcome: 'completed' })]
  expect(said([done])).toEqual([''])
  // The beginning and the end may come together.
  expect(said([turn('m', 'queued')], [done])[1]).toBe('The answer is finished.')
  expect(said([running], [done], [done])).toEqual([
    '',
    'The answer is finished.',
    'The answer is finished.',
  ])
  expect(said([running], [turn('m', 'done', { outcome: 'failed' })])[1]).toBe('The answer failed.')
})

test('a question is said until it is answered, and then the end of the turn', () => {
  const texts = said(
    [turn('m', 'running')],
    [turn('m', 'waiting', asks('approval'))],
    [turn('m', 'running', asks('approval', { end: { how: 'accept' } }))],
    [turn('m', 'done', asks('approval', { end: { how: 'accept' } }))],
  )
  const asked = 'files remove needs your permission.'
  expect(texts).toEqual(['', asked, '', 'The answer is finished.'])
  expect(said([turn('m', 'waiting', asks('form'))])).toEqual(['files remove asks you.'])
})

test('the ends of two answers in a row are two notices, though they are the same text', () => {
  const running = nextNotice(NO_NOTICE, [turn('m', 'running'), turn('n', 'queued')])
  const first = nextNotice(running, [turn('m', 'done'), turn('n', 'running')])
  expect(first).toMatchObject({ text: 'The answer is finished.', key: 'm' })
  const streamed = nextNotice(first, [turn('m', 'done'), turn('n', 'running')])
  expect(streamed).toBe(first)
  const second = nextNotice(first, [turn('m', 'done'), turn('n', 'done')])
  expect(second).toMatchObject({ text: 'The answer is finished.', key: 'n' })
})

test('two questions of a tool in a row are two notices', () => {
  const first = nextNotice(NO_NOTICE, [turn('m', 'waiting', asks('form', {}, 'q1'))])
  const second = nextNotice(first, [turn('m', 'waiting', asks('form', {}, 'q2'))])
  expect([first.key, second.key]).toEqual(['q1', 'q2'])
  expect(second.text).toBe(first.text)
})

test('a turn that is not shown any more has no end', () => {
  expect(said([turn('m', 'running')], [turn('other', 'done')])).toEqual(['', ''])
})
