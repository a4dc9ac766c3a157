import type { LogEntry, SessionEvent } from '@mcp-host/contracts'
import type { PlannedTurn } from '../../planned-turn.ts'

/** One turn of two generations with two calls. The worker of the second generation died once. */
export const plan: PlannedTurn = {
  id: 's0-0',
  message: 'script',
  steps: [
    {
      thinking: 'hm',
      text: 'w0 w1 ',
      calls: [
        { id: 's0-0-0', tool: 'mark' },
        { id: 's0-0-1', tool: 'look' },
      ],
    },
    { thinking: '', text: 'w0 w1 w2 ', calls: [] },
  ],
}

type Unplaced = SessionEvent extends infer Each
  ? Each extends unknown
    ? Omit<Each, 'id'>
    : never
  : never

const at = (id: string, event: Unplaced): SessionEvent => ({ ...event, id })

const text = (content: string): Unplaced => ({ type: 'text', payload: { content } })

const call = (number: number, tool: string): Unplaced => ({
  type: 'tool',
  payload: {
    state: 'call',
    callId: `g2-${number}`,
    tool,
    arguments: { id: `s0-0-${number}` },
  },
})

const result = (number: number, tool: string): Unplaced => ({
  type: 'tool',
  payload: { state: 'result', callId: `g2-${number}`, tool, outcome: 'ok', content: [] },
})

/** The events that a client receives. */
export const events: readonly SessionEvent[] = [
  at('1.1.-.0', { type: 'user', payload: { messageId: 's0-0', text: 'script' } }),
  at('2.1.2.0', { type: 'turn', payload: { state: 'started', messageId: 's0-0' } }),
  at('2.2.2.0', { type: 'status', payload: { state: 'processing', message: 'Thinking' } }),
  at('2.2.2.2', { type: 'thinking', payload: { content: 'hm' } }),
  at('2.2.2.5', text('w0 ')),
  at('2.2.2.8', text('w1 ')),
  at('3.1.2.8', call(0, 'mark')),
  at('3.2.2.8', call(1, 'look')),
  at('6.1.2.8', result(1, 'look')),
  at('7.1.2.8', result(0, 'mark')),
  at('8.0.8.3', text('w0 ')),
  at('9.1.9.0', { type: 'reset', payload: { message: 'anew' } }),
  at('9.1.9.6', text('w0 w1 ')),
  at('9.1.9.9', text('w2 ')),
  at('11.1.-.0', { type: 'turn', payload: { state: 'done', outcome: 'completed' } }),
]

const usual = { session: 'session', time: 0, envelope: {} }
const turn = { turn: 1, seen: 0 }

/** The log of the turn. */
export const log = [
  { seq: 1, kind: 'input', fact: { id: 's0-0', text: 'script' } },
  {
    seq: 2,
    kind: 'turn',
    fact: { type: 'turn-claimed', ...turn, messageId: 's0-0', generation: 'g2', epoch: 1 },
  },
  {
    seq: 3,
    kind: 'generation',
    fact: {
      generation: 'g2',
      outcome: 'completed',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'w0 w1 ' },
        {
          type: 'tool-call',
          id: 'g2-0',
          name: 'one__mark',
          tool: 'mark',
          arguments: { id: 's0-0-0' },
        },
        {
          type: 'tool-call',
          id: 'g2-1',
          name: 'one__look',
          tool: 'look',
          arguments: { id: 's0-0-1' },
        },
      ],
    },
  },
  { seq: 4, kind: 'tool', fact: { type: 'tool-started', call: 'g2-0', attempt: 1 } },
  { seq: 6, kind: 'tool', fact: { type: 'tool-finished', call: 'g2-1', outcome: 'ok' } },
  { seq: 7, kind: 'tool', fact: { type: 'tool-finished', call: 'g2-0', outcome: 'ok' } },
  { seq: 8, kind: 'turn', fact: { type: 'generation-started', ...turn, generation: 'g8' } },
  {
    seq: 9,
    kind: 'turn',
    fact: { type: 'generation-started', ...turn, generation: 'g9', voids: 'g8' },
  },
  {
    seq: 10,
    kind: 'generation',
    fact: {
      generation: 'g9',
      outcome: 'completed',
      content: [{ type: 'text', text: 'w0 w1 w2 ' }],
    },
  },
  { seq: 11, kind: 'turn', fact: { type: 'turn-done', ...turn, outcome: 'completed' } },
  // Entries only have the fields that the checks read.
].map((entry) => ({ ...usual, ...entry })) as unknown as readonly LogEntry[]
