import type { ClientEvent } from '@mcp-host/client'
import { LOST_TEXT_MESSAGES } from '@mcp-host/client'
import type { Item, QuestionItem, ToolItem, Turn } from './turn.ts'
import { usageOf } from './usage-of.ts'

/** The turn after an event of its stream. */
export function foldTurn(turn: Turn, event: ClientEvent): Turn {
  switch (event.type) {
    case 'text':
      return { ...turn, items: append(turn.items, 'text', event.payload.content) }
    case 'thinking':
      return { ...turn, items: append(turn.items, 'reasoning', event.payload.content) }
    case 'tool':
      return { ...turn, items: foldTool(turn.items, event.payload) }
    case 'input':
      return foldInput(turn, event.payload)
    case 'reset':
      return foldReset(turn, event.payload.message)
    case 'context':
      return { ...turn, items: noteAboveText(turn.items, event.payload.message) }
    case 'status':
      return foldStatus(turn, event.payload)
    case 'turn':
      return foldState(turn, event.payload)
    case 'user':
    case 'queue':
    case 'session':
      // These events concern the session, not one turn.
      return turn
    default:
      event satisfies never
      // A newer host may send other events.
      return turn
  }
}

type Payload<Type extends ClientEvent['type']> = Extract<ClientEvent, { type: Type }>['payload']

function append(items: readonly Item[], kind: 'text' | 'reasoning', text: string): Item[] {
  const last = items.at(-1)
  return last?.kind === kind
    ? [...items.slice(0, -1), { ...last, text: last.text + text }]
    : [...items, { kind, id: newItemId(items, kind), text }]
}

/** A note of the host. It may say the same twice, for clients that know fewer events. */
function note(items: readonly Item[], text: string): readonly Item[] {
  const last = items.at(-1)
  if (last?.kind === 'note' && last.text === text) return items
  return [...items, { kind: 'note', id: newItemId(items, 'note'), text }]
}

/** An id that no item has: a reset may have taken earlier ones away. */
function newItemId(items: readonly Item[], kind: Item['kind']): string {
  let index = items.length
  while (items.some(({ id }) => id === `${kind}${index}`)) index += 1
  return `${kind}${index}`
}

/** Text and reasoning since the last tool result are void after a reset. */
function withoutUnfinished(items: readonly Item[]): Item[] {
  const last = items.findLastIndex((item) => item.kind === 'tool' && item.result !== undefined)
  return items.filter((item, index) => index <= last || !isWritten(item))
}

/** A loss is told only where text was shown that is void. */
function foldReset(turn: Turn, message: string): Turn {
  const items = withoutUnfinished(turn.items)
  const isSilent = LOST_TEXT_MESSAGES.has(message) && items.length === turn.items.length
  return { ...turn, items: isSilent ? items : note(items, message) }
}

function foldTool(items: readonly Item[], payload: Payload<'tool'>): readonly Item[] {
  if (payload.state === 'call') {
    const { callId: id, server, tool, arguments: given } = payload
    return [...items, { kind: 'tool', id, server, tool, arguments: given }]
  }
  if (payload.state === 'progress') {
    const { callId, progress, total, message } = payload
    const more = {
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    }
    return changeTool(items, callId, (item) => ({ ...item, progress: more }))
  }
  const { state: _, callId, server, tool, ...result } = payload
  const known = items.some(({ kind, id }) => kind === 'tool' && id === callId)
  // A call of a tool that does not exist has only a result.
  const all: readonly Item[] = known
    ? items
    : [...items, { kind: 'tool', id: callId, server, tool, arguments: {} }]
  return changeTool(all, callId, (item) => ({ ...item, result }))
}

function changeTool(
  items: readonly Item[],
  id: string,
  change: (item: ToolItem) => ToolItem,
): Item[] {
  return items.map((item) => (item.kind === 'tool' && item.id === id ? change(item) : item))
}

function foldInput(turn: Turn, payload: Payload<'input'>): Turn {
  if (payload.state === 'required') {
    const item: QuestionItem = { kind: 'question', id: payload.id, question: payload }
    const items = turn.items.filter((each) => each.id !== payload.id)
    return { ...turn, items: [...items, item] }
  }
  const end =
    payload.state === 'answered' ? { how: payload.action, by: payload.by } : { how: payload.state }
  const items = turn.items.map((item) =>
    item.kind === 'question' && item.id === payload.id ? { ...item, end } : item,
  )
  const state = turn.state === 'waiting' ? 'running' : turn.state
  return { ...turn, state, items }
}

/** How the host words the only note about the end of a text; other notes introduce the text. */
const ABOUT_END = ' stopped before its end: '

/**
 * Shows a status only if it is a note about the turn, for instance that another model answers. Other events show the
 * other steps.
 */
function foldStatus(turn: Turn, { state, message, tool }: Payload<'status'>): Turn {
  const { items } = turn
  if (tool !== undefined || state !== 'processing' || message === 'Thinking') return turn
  // The reset before it has told it.
  if (LOST_TEXT_MESSAGES.has(message)) return turn
  if (message.includes(ABOUT_END)) return { ...turn, items: note(items, message) }
  return { ...turn, items: noteAboveText(items, message) }
}

/** Puts a note above the text of the current generation, which may arrive before its notes. */
function noteAboveText(items: readonly Item[], text: string): readonly Item[] {
  const start = items.findLastIndex((item) => !isWritten(item)) + 1
  return [...note(items.slice(0, start), text), ...items.slice(start)]
}

/** Whether the model wrote the item. */
function isWritten({ kind }: Item): boolean {
  return kind === 'text' || kind === 'reasoning'
}

function foldState(turn: Turn, payload: Payload<'turn'>): Turn {
  switch (payload.state) {
    case 'started':
      return { ...turn, state: 'running', items: [], position: undefined, error: undefined }
    case 'waiting':
      return { ...turn, state: 'waiting' }
    case 'done':
      return {
        ...turn,
        state: 'done',
        position: undefined,
        outcome: payload.outcome,
        error: payload.error?.message,
        usage: usageOf(payload.usage),
        items: turn.items.map(closeQuestion),
      }
    default:
      return payload satisfies never
  }
}

/** The end of a turn ends its open questions. */
function closeQuestion(item: Item): Item {
  return item.kind === 'question' && item.end === undefined
    ? { ...item, end: { how: 'void' } }
    : item
}
