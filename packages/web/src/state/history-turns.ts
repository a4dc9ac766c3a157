import type { Message } from '@mcp-host/client'
import type { Item, ToolResult, Turn } from './turn.ts'
import { newTurn } from './turn.ts'
import { usageOf } from './usage-of.ts'

/** The turns of a page of the history. Answers that are not finished come over the connection. */
export function historyTurns(messages: readonly Message[]): Turn[] {
  const turns = new Map<string, Turn>()
  for (const message of messages) {
    const { messageId, state = 'done' } = message.metadata
    const turn = turns.get(messageId)
    if (message.role === 'user') turns.set(message.id, userTurn(message))
    else if (turn !== undefined && turn.state === 'done' && state === 'done') {
      turns.set(messageId, { ...turn, items: [...turn.items, ...itemsOf(message)] })
    }
  }
  return [...turns.values()]
}

function userTurn({ id, content = '', createdAt: at, metadata }: Message): Turn {
  const { state = 'done', outcome, error, turnUsage, attachments = [], branches = [id] } = metadata
  const known = { at, state, outcome, attachments, branches }
  return newTurn(id, content, { ...known, error: error?.message, usage: usageOf(turnUsage) })
}

function itemsOf({ id, role, content = '', data, toolName = '', metadata }: Message): Item[] {
  if (role === 'tool') {
    const [server, tool] = splitName(toolName)
    const { arguments: given = {}, approval, outcome, content: blocks = [], ...more } = data ?? {}
    // A call of an ended turn without a result was cut off.
    const result: ToolResult = { ...more, outcome: outcome ?? 'unknown', content: blocks }
    const call: Item = { kind: 'tool', id, server, tool, arguments: given, result }
    if (approval === undefined) return [call]
    const kind = 'approval'
    const about = { callId: id, server: server ?? '', tool, message: '', expiresAt: 0 }
    const question = {
      state: 'required',
      id: `${id}-approval`,
      kind,
      mode: kind,
      ...about,
    } as const
    return [call, { kind: 'question', id: question.id, question, end: approval }]
  }
  if (role === 'system') return [{ kind: 'note', id, text: content }]
  const { reasoning = '' } = metadata
  return [
    ...(reasoning === '' ? [] : [{ kind: 'reasoning', id: `${id}-r`, text: reasoning } as const]),
    ...(content === '' ? [] : [{ kind: 'text', id, text: content } as const]),
  ]
}

/** `server.tool`; names of tools may have dots, names of servers have none. */
function splitName(name: string): readonly [string | undefined, string] {
  const dot = name.indexOf('.')
  return dot === -1 ? [undefined, name] : [name.slice(0, dot), name.slice(dot + 1)]
}
