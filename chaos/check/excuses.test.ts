import { expect, test } from 'vitest'
import { log } from './__fixtures__/good-run.ts'
import type { Evidence, Excuse } from './excuses.ts'
import { checkReported, checkRestartAfterLoss, excuses } from './excuses.ts'

const AT = 1_000_000
const MESSAGE = 's0-0'

const loss = (after: number, through: number) => ({ after, through, at: AT })

/** The log without the entries of a range, which is reported as lost. */
function damaged(after: number, through: number): Pick<Evidence, 'log' | 'lost'> {
  const kept = log.filter(({ seq }) => seq <= after || seq > through)
  return { log: kept, lost: [loss(after, through)] }
}

const whole: Evidence = {
  lost: [],
  log,
  places: new Map([[MESSAGE, new Set([1, 2, 3])]]),
  accepted: new Map([[MESSAGE, AT - 1_000]]),
  restarts: [],
}

function excuseOf(evidence: Partial<Evidence>): Excuse | undefined {
  return excuses({ ...whole, ...evidence }).get(MESSAGE)
}

const unseen = { places: new Map() }

test.each<[string, Partial<Evidence>, Excuse]>([
  ['an event that a client has seen is lost', damaged(2, 1_000), 'seen and lost'],
  [
    'the turn continues after the loss',
    { ...damaged(4, 9), places: new Map([[MESSAGE, new Set([1, 2])]]) },
    'across a loss',
  ],
  ['the end of the turn is lost', { ...damaged(10, 1_000), ...unseen }, 'across a loss'],
  [
    'no client saw it after it was accepted',
    { ...damaged(0, 1_000), ...unseen },
    'accepted and lost',
  ],
  [
    'its turn ended before the stream restarted',
    { ...unseen, restarts: [11] },
    'over before the client came back',
  ],
])('a message is excused when %s', (_title, evidence, excuse) => {
  expect(excuseOf(evidence)).toBe(excuse)
})

test.each<[string, Partial<Evidence>]>([
  ['nothing is lost', {}],
  ['it ended before the loss', { lost: [loss(11, 1_000)] }],
  [
    'it began after the loss',
    { log: log.filter(({ seq }) => seq > 0), lost: [{ after: -10, through: 0, at: AT }] },
  ],
  ['the loss is not reported', { ...damaged(4, 1_000), lost: [] }],
  ['the loss of all its entries is not reported', { log: [], lost: [], ...unseen }],
  [
    'it was accepted long before the loss and never shown',
    { ...damaged(0, 1_000), ...unseen, accepted: new Map([[MESSAGE, AT - 60_000]]) },
  ],
  [
    'it was accepted after the loss',
    { ...damaged(0, 1_000), ...unseen, accepted: new Map([[MESSAGE, AT + 10_000]]) },
  ],
  [
    'its missing events are not in the loss',
    { log: [], lost: [loss(20, 1_000)], accepted: new Map() },
  ],
  ['it ended after the stream restarted', { ...unseen, restarts: [10] }],
])('a message is not excused when %s', (_title, evidence) => {
  expect(excuseOf(evidence)).toBeUndefined()
})

test('a stream that continues after lost events without a restart is a violation', () => {
  const lost = [loss(4, 1_000)]
  expect(checkRestartAfterLoss('s0', lost, [[3, 5, 6], [1_001]])).toEqual([])
  expect(checkRestartAfterLoss('s0', lost, [[3, 4, 1_001]])).toEqual([])
  expect(checkRestartAfterLoss('s0', lost, [[3, 5, 1_001]])).toMatchObject([
    { rule: 'not told of a loss' },
  ])
})

test('a seen event is in the log or in a reported loss, and no lost sequence is in the log', () => {
  const rules = (evidence: Pick<Evidence, 'log' | 'lost'>, seen: number[]): string[] =>
    checkReported('s0', evidence, seen).map(({ rule }) => rule)
  expect(rules(damaged(8, 1_000), [1, 8, 9, 11])).toEqual([])
  expect(rules({ ...damaged(8, 1_000), lost: [] }, [1, 8])).toEqual([])
  expect(rules({ ...damaged(8, 1_000), lost: [] }, [1, 8, 9])).toEqual(['loss not reported'])
  expect(rules({ log, lost: [loss(8, 1_000)] }, [1, 9])).toEqual(['lost sequence reused'])
})
