import type { Down } from '@mcp-host/contracts'

type Payload<Type extends Down['type']> =
  Extract<Down, { type: Type }> extends { readonly payload: infer Own } ? Own : never

/** A frame without its id. */
interface Made {
  readonly type: Down['type']
  readonly payload: unknown
}
type Turn = Payload<'turn'>
type Tool = Payload<'tool'>

/** The data of a server-sent event, as the OpenAPI document of the gateway describes it. */
export type SseData =
  | { readonly type: 'content' | 'thinking'; readonly content: string }
  | {
      readonly type: 'status'
      readonly content: string
      readonly user?: Payload<'user'>
      readonly turn?: Turn
      readonly status?: { readonly state: Payload<'status'>['state'] }
      readonly input?: Payload<'input'>
      readonly reset?: true
      readonly context?: Payload<'context'>
      readonly queue?: Payload<'queue'>['messages']
    }
  | ({ readonly type: 'tool_start' | 'tool_progress' | 'tool_result' } & Readonly<
      Record<string, unknown>
    >)
  | {
      readonly type: 'error'
      readonly content: string
      readonly session?: Payload<'session'>
    }
  | ({ readonly type: 'done'; readonly content?: string; readonly step?: number } & Omit<
      Extract<Turn, { state: 'done' }>,
      'state' | 'error'
    >)

/** Makes the frames of a socket from server-sent events. */
export class ToDown {
  /** The error of a turn comes before its end. */
  #error: object | undefined

  /** `id`: of the event. The first of several events of one frame gives none, as the last one does. */
  frame(data: SseData, id: string | undefined): Down | undefined {
    const made = this.#make(data)
    // The fields are those of the frame that the gateway has made the event from.
    return made && ({ ...made, ...(id === undefined ? {} : { id }) } as Down)
  }

  #make(data: SseData): Made | undefined {
    switch (data.type) {
      case 'content':
        return { type: 'text', payload: { content: data.content } }
      case 'thinking':
        return { type: 'thinking', payload: { content: data.content } }
      case 'status':
        return ofStatus(data)
      case 'tool_start':
      case 'tool_progress':
      case 'tool_result':
        return { type: 'tool', payload: ofTool(data) }
      case 'error': {
        const { type: _, content: message, session, ...info } = data
        if (session !== undefined) return { type: 'session', payload: session }
        this.#error = { ...info, message }
        return undefined
      }
      case 'done': {
        const { type: _, content: _text, step: _step, ...end } = data
        const error = this.#error
        this.#error = undefined
        const payload = { ...end, ...(error === undefined ? {} : { error }), state: 'done' }
        return { type: 'turn', payload }
      }
      default:
        // An event of a later version.
        return undefined
    }
  }
}

function ofStatus(data: Extract<SseData, { type: 'status' }>): Made | undefined {
  const { content: message, user, turn, status, input, reset, context, queue } = data
  if (user !== undefined) return { type: 'user', payload: user }
  if (turn !== undefined) return { type: 'turn', payload: turn }
  if (input !== undefined) return { type: 'input', payload: input }
  if (context !== undefined) return { type: 'context', payload: context }
  if (queue !== undefined) return { type: 'queue', payload: { messages: queue } }
  if (reset !== undefined) return { type: 'reset', payload: { message } }
  return status && { type: 'status', payload: { ...status, message } }
}

const STATES = { tool_start: 'call', tool_progress: 'progress', tool_result: 'result' } as const

function ofTool(
  data: Extract<SseData, { type: 'tool_start' | 'tool_progress' | 'tool_result' }>,
): Tool {
  const { type, content, data: result, ...fields } = data
  const server = fields['server']
  const name = String(fields['tool'])
  const tool = typeof server === 'string' ? name.slice(server.length + 1) : name
  const message = type === 'tool_progress' ? { message: content } : {}
  // The fields are those of the frame, but for those that are set here.
  return { ...fields, ...(result as object), ...message, tool, state: STATES[type] } as Tool
}
