import type {
  ContentBlock,
  ContextCompacted,
  GenerationResult,
  LogEntry,
  LogFact,
  SessionId,
  ToolCallBlock,
  ToolFinished,
  TurnOutcome,
} from '@mcp-host/contracts'
import type { SessionState } from '@mcp-host/session-state'
import { generationId, newEnvelope, toolCallId } from '@mcp-host/contracts'
import { applyEntry, emptySession } from '@mcp-host/session-state'

export const session = 'sessionsessionsession' as SessionId
export const envelope = newEnvelope('local')

/** The state that facts fold to, stored from sequence 1 on. */
export function fold(...facts: LogFact[]): SessionState {
  const state = emptySession()
  for (const fact of facts) append(state, fact)
  return state
}

export function append(state: SessionState, fact: LogFact): void {
  const entry: LogEntry = { ...fact, session, seq: state.seq + 1, time: 1, envelope }
  applyEntry(state, entry)
}

const base = { seen: 0 }
/** The id of a generation by a number. */
const gen = (number: number): ReturnType<typeof generationId> => generationId(session, number)

export const input = (id: string, message: string, replaces?: string): LogFact => ({
  kind: 'input',
  fact: { id, text: message, ...(replaces === undefined ? {} : { replaces }) },
})
export const claim = (turn: number, generation?: number): LogFact => ({
  kind: 'turn',
  fact: {
    ...base,
    type: 'turn-claimed',
    turn,
    messageId: '',
    orchestrator: 'o',
    epoch: 1,
    ...(generation === undefined ? {} : { generation: gen(generation) }),
  },
})
/** The start of a further generation, which may void an earlier one. */
export const next = (
  turn: number,
  generation: number,
  voids?: number,
  reason?: string,
): LogFact => ({
  kind: 'turn',
  fact: {
    ...base,
    type: 'generation-started',
    turn,
    generation: gen(generation),
    ...(voids === undefined ? {} : { voids: gen(voids) }),
    ...(reason === undefined ? {} : { reason }),
  },
})
export const done = (turn: number, outcome: TurnOutcome = 'completed'): LogFact => ({
  kind: 'turn',
  fact: { ...base, type: 'turn-done', turn, outcome },
})
export const compacted = (
  turn: number,
  how: ContextCompacted['how'],
  through: number,
  summary?: string,
): LogFact => ({
  kind: 'turn',
  fact: {
    ...base,
    type: 'context-compacted',
    turn,
    how,
    through,
    ...(summary === undefined ? {} : { summary }),
    tokensBefore: 0,
    tokensAfter: 0,
  },
})
export const result = (
  generation: number,
  content: ContentBlock[],
  {
    outcome = 'completed',
    usage,
    error,
  }: Pick<Partial<GenerationResult>, 'outcome' | 'usage' | 'error'> = {},
): LogFact => ({
  kind: 'generation',
  fact: {
    generation: gen(generation),
    outcome,
    content,
    provider: 'demo',
    model: 'm',
    ...(usage === undefined ? {} : { usage }),
    ...(error === undefined ? {} : { error }),
  },
})
export const finished = (
  block: ToolCallBlock,
  content: ToolFinished['content'],
  more: Partial<ToolFinished> = {},
): LogFact => ({
  kind: 'tool',
  fact: {
    type: 'tool-finished',
    call: block.id,
    server: 'test',
    tool: 'echo',
    outcome: 'ok',
    content,
    durationMs: 1,
    ...more,
  },
})
export const settled = (
  turn: number,
  block: ToolCallBlock,
  outcome: 'refused' | 'unknown' | 'cancelled' | 'answered',
  message = `it is ${outcome}`,
): LogFact => ({
  kind: 'turn',
  fact: {
    ...base,
    type: 'tool-settled',
    turn,
    call: block.id,
    tool: 'test.echo',
    outcome,
    message,
  },
})

export const text = (content: string): ContentBlock => ({ type: 'text', text: content })
export const reasoning = (content: string): ContentBlock => ({ type: 'reasoning', text: content })
export const call = (generation: number, index = 0): ToolCallBlock => ({
  type: 'tool-call',
  id: toolCallId(gen(generation), index),
  name: `test__echo${index}`,
  server: 'test',
  tool: 'echo',
  arguments: {},
})
