import type { HistoryMessage } from '@mcp-host/contracts'
import type { Checkpoint, Generation, Input, ToolCall, Turn } from '@mcp-host/session-state'
import { toolOutcome } from '@mcp-host/contracts'

/** The context of a turn that its own state does not have. */
export interface TurnPlace {
  /** Ids of all alternative messages at the place of the turn, oldest first. */
  readonly branches: readonly string[]
  /** The summary that replaces all turns up to this one in prompts. */
  readonly checkpoint: Checkpoint | undefined
}

/** A user message and the answers, tool calls and notes of its turn, in order. Pure. */
export function turnMessages(
  input: Input,
  turn: Turn | undefined,
  { branches, checkpoint }: TurnPlace,
): HistoryMessage[] {
  const { id, time, text, attachments } = input
  const { done, usage = [] } = turn ?? {}
  const user: HistoryMessage = {
    id,
    role: 'user',
    createdAt: time,
    content: text,
    metadata: {
      messageId: id,
      ...(branches.length > 1 ? { branches: [...branches] } : {}),
      state: stateOf(turn),
      ...(done === undefined ? {} : { outcome: done.outcome }),
      ...(done?.error === undefined ? {} : { error: done.error }),
      ...(done === undefined || usage.length === 0 ? {} : { turnUsage: [...usage] }),
      ...(attachments === undefined ? {} : { attachments }),
    },
  }
  return [
    user,
    ...(turn?.generations ?? []).flatMap((generation) => generationMessages(id, generation)),
    ...note(input, 'end', done?.time, endNote(done)),
    ...note(input, 'context', done?.time, checkpoint && CONTEXT_NOTES[checkpoint.how]),
  ]
}

function stateOf(turn: Turn | undefined): HistoryMessage['metadata']['state'] {
  if (turn === undefined) return 'queued'
  if (turn.done !== undefined) return 'done'
  // A turn that moves to another orchestrator is shown as running.
  return turn.waiting?.for === 'approval' ? 'waiting' : 'running'
}

const CONTEXT_NOTES: Record<Checkpoint['how'], string> = {
  cleared: 'Results of earlier tool calls are not sent to the model any more.',
  summarised: 'Earlier messages were summarised; the model is sent the summary.',
  dropped: 'Earlier messages are not sent to the model any more.',
}

function endNote(done: Turn['done']): string | undefined {
  return done?.message ?? (done?.outcome === 'cancelled' ? 'This turn was cancelled.' : undefined)
}

function note(
  { id, time }: Input,
  suffix: string,
  createdAt = time,
  content: string | undefined,
): HistoryMessage[] {
  if (content === undefined) return []
  return [
    { id: `${id}-${suffix}`, role: 'system', createdAt, content, metadata: { messageId: id } },
  ]
}

function generationMessages(
  messageId: string,
  { id, isVoid, result, endedAt, calls }: Generation,
): HistoryMessage[] {
  if (isVoid || result === undefined) return []
  const { content, provider, model, usage, error } = result
  const join = (type: 'text' | 'reasoning'): string =>
    content.map((block) => (block.type === type ? block.text : '')).join('')
  const text = join('text')
  const reasoning = join('reasoning')
  const answer: HistoryMessage = {
    id,
    role: 'assistant',
    createdAt: endedAt,
    ...(text === '' ? {} : { content: text }),
    kind: 'complete',
    metadata: {
      messageId,
      provider,
      model,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(usage === undefined ? {} : { usage }),
      ...(error === undefined ? {} : { error }),
    },
  }
  const tools = Array.from(calls.values(), (call) => toolMessage(messageId, endedAt, call))
  return text === '' && reasoning === '' ? tools : [answer, ...tools]
}

function toolMessage(messageId: string, createdAt: number, call: ToolCall): HistoryMessage {
  const { id, name, server, tool, arguments: given } = call.block
  const end = endOf(call)
  return {
    id,
    role: 'tool',
    createdAt,
    toolName: server === undefined || tool === undefined ? name : `${server}.${tool}`,
    kind: end !== undefined ? 'complete' : call.attempt > 0 ? 'progress' : 'start',
    data: { arguments: given, ...approvalOf(call), ...end },
    metadata: { messageId },
  }
}

type ToolData = NonNullable<HistoryMessage['data']>

function approvalOf({ approval }: ToolCall): Pick<ToolData, 'approval'> {
  const { end } = approval ?? {}
  if (end === undefined) return {}
  return end.state === 'answered'
    ? { approval: { how: end.answer.action, by: end.by } }
    : { approval: { how: end.state } }
}

function endOf({
  settled,
  result,
}: ToolCall): Omit<ToolData, 'arguments' | 'approval'> | undefined {
  if (settled !== undefined) {
    const { outcome, message } = settled
    const content = [{ type: 'text', text: message }]
    return { outcome: outcome === 'answered' ? 'ok' : outcome, content }
  }
  if (result === undefined) return undefined
  const { content, structuredContent, error, blob, durationMs } = result
  return {
    outcome: toolOutcome(result),
    content,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(error === undefined ? {} : { error }),
    ...(blob === undefined ? {} : { blob }),
    durationMs,
  }
}
