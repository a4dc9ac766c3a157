import type { Cursor, Down, ErrorInfo, ToolProgressDown } from '@mcp-host/contracts'
import { BusError, parseCursor } from '@mcp-host/contracts'
import { argumentWords } from './argument-words.ts'
import type { StreamEvent } from './session-reader.ts'
import type { SseEvent } from './sse-event.ts'

/** Items of a session's stream: its events, and items outside of the order. */
export type StreamItem = StreamEvent | ToolProgressDown | Extract<Down, { type: 'queue' }>

/** One Server-Sent Event. */
export interface SseFrame {
  readonly id: string | undefined
  readonly data: SseEvent
}

type Payload<T extends StreamItem['type']> = Extract<StreamItem, { type: T }>['payload']

/** Converts a stream item to Server-Sent Events. The id of each is the place of a client that has seen it. */
export function sseFrames(item: StreamItem): SseFrame[] {
  const id = 'id' in item ? item.id : undefined
  const events = toSse(item)
  return events.map((data, index) => {
    const isLast = index === events.length - 1
    return { id: isLast || id === undefined ? id : `${id}~${index + 1}`, data }
  })
}

/**
 * The place in the session for the id of a frame, and the number of frames of the item to skip; `undefined` when it is
 * not an id.
 */
export function parseFrameId(id: string): { cursor: Cursor; skip: number } | undefined {
  const [, place = '', count = '0'] = /^(.*?)(?:~([1-9]))?$/.exec(id) ?? []
  const cursor = parseCursor(place)
  const skip = Number(count)
  if (cursor === undefined || skip === 0) return cursor && { cursor, skip }
  // An item with several frames is one part of an entry. Its id is the place after it, so it begins one part earlier.
  return cursor.part === 0 ? undefined : { cursor: { ...cursor, part: cursor.part - 1 }, skip }
}

/** Converts a stream item to server-sent events. Statuses of tools are in the tools' own events. */
export function toSse(item: StreamItem): SseEvent[] {
  switch (item.type) {
    case 'text':
      return [{ type: 'content', content: item.payload.content }]
    case 'thinking':
      return [{ type: 'thinking', content: item.payload.content }]
    case 'user':
      return [status('Message accepted', { user: item.payload })]
    case 'status': {
      const { tool, state, message } = item.payload
      return tool === undefined ? [status(message, { status: { state } })] : []
    }
    case 'tool':
      return [toolEvent(item.payload)]
    case 'input':
      return [status(inputWords(item.payload), { input: item.payload })]
    case 'reset':
      return [status(item.payload.message, { reset: true })]
    case 'turn':
      return turnEvents(item)
    case 'context':
      return [status(item.payload.message, { context: item.payload })]
    case 'session': {
      const error = { code: 'not-found', message: 'This session was deleted' } as const
      return [{ ...errorEvent(error), session: item.payload }]
    }
    case 'queue':
      return [status(queueWords(item.payload), { queue: item.payload.messages })]
    default:
      return item satisfies never
  }
}

type StatusEvent = Extract<SseEvent, { type: 'status' }>

function status(content: string, about: Omit<StatusEvent, 'type' | 'content'>): SseEvent {
  return { type: 'status', content, ...about }
}

function toolEvent(payload: Payload<'tool'>): SseEvent {
  const { callId, server } = payload
  const tool = server === undefined ? payload.tool : `${server}.${payload.tool}`
  const about = { callId, tool, ...(server === undefined ? {} : { server }) }
  if (payload.state === 'call') {
    return {
      type: 'tool_start',
      content: `Using ${tool}${argumentWords(payload.arguments)}`,
      ...about,
      arguments: payload.arguments,
    }
  }
  if (payload.state === 'progress') {
    const { progress, total, message } = payload
    return {
      type: 'tool_progress',
      content: message ?? `${progress}${total === undefined ? '' : ` of ${total}`}`,
      ...about,
      progress,
      ...(total === undefined ? {} : { total }),
    }
  }
  const { content, structuredContent, outcome, error, blob, durationMs } = payload
  const texts = content.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  return {
    type: 'tool_result',
    content: texts.length === 0 ? (error?.message ?? '') : texts.join('\n'),
    ...about,
    outcome,
    data: { content, ...(structuredContent === undefined ? {} : { structuredContent }) },
    ...(error === undefined ? {} : { error }),
    ...(blob === undefined ? {} : { blob }),
    ...(durationMs === undefined ? {} : { durationMs }),
  }
}

function inputWords({ state, server, tool, message }: Payload<'input'>): string {
  const name = `${server}.${tool}`
  switch (state) {
    case 'required':
      return `${name} waits for your answer: ${message}`
    case 'answered':
      return `${name}: the question was answered`
    case 'expired':
      return `${name}: the question was not answered in time`
    case 'void':
      return `${name}: the question is not open any more`
    default:
      return state satisfies never
  }
}

function queueWords({ messages: { length } }: Payload<'queue'>): string {
  if (length === 0) return 'No message waits'
  return length === 1 ? 'A message waits for its turn' : `${length} messages wait for their turns`
}

function turnEvents({ payload, answer }: StreamItem & { type: 'turn' }): SseEvent[] {
  switch (payload.state) {
    case 'started':
      return [status('The answer begins', { turn: payload })]
    case 'waiting':
      return [status('Waiting for your answer', { turn: payload })]
    case 'done': {
      const { outcome, error, messageId, usage } = payload
      const done: SseEvent = {
        type: 'done',
        content: answer?.text ?? '',
        ...(answer?.step === undefined ? {} : { step: answer.step }),
        outcome,
        ...(messageId === undefined ? {} : { messageId }),
        ...(usage === undefined ? {} : { usage }),
      }
      return error === undefined ? [done] : [errorEvent(error), done]
    }
    default:
      return payload satisfies never
  }
}

function errorEvent({ message, ...info }: ErrorInfo): Extract<SseEvent, { type: 'error' }> {
  const { retryable } = new BusError(info.code, message)
  return { type: 'error', content: message, ...info, retryable }
}
