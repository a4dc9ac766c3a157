import type {
  ApprovalRequired,
  ContextCompacted,
  ControlFact,
  LogEntry,
  SessionEvent,
  ToolFact,
  ToolFinished,
  TurnEvent,
} from '@mcp-host/contracts'
import type { AskedQuestion, QuestionEnd } from '@mcp-host/session-state'
import { toolOutcome } from '@mcp-host/contracts'
import { toolError } from '../standard-messages.ts'

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** An event without its place in the stream. */
export type Unplaced = WithoutId<SessionEvent>

/** The events of one log entry for clients, in order. Pure. */
export function logEvents(entry: LogEntry): Unplaced[] {
  switch (entry.kind) {
    case 'input': {
      const { id: messageId, text, attachments, replaces, follows } = entry.fact
      const payload = {
        messageId,
        text,
        ...(attachments === undefined ? {} : { attachments }),
        ...(replaces === undefined ? {} : { replaces }),
        ...(follows === undefined ? {} : { follows }),
      }
      return [{ type: 'user', payload }]
    }
    case 'control':
      return controlEvents(entry.fact)
    case 'turn':
      return turnEvents(entry.fact)
    case 'generation': {
      if (entry.fact.outcome !== 'completed') return []
      const { content, notices = [] } = entry.fact
      const calls = content.flatMap((block): Unplaced[] => {
        if (block.type !== 'tool-call') return []
        const { server, tool = block.name } = block
        const name = server === undefined ? tool : `${server}.${tool}`
        return [
          processing(`Using ${name}`, name),
          {
            type: 'tool',
            payload: {
              state: 'call',
              callId: block.id,
              ...(server === undefined ? {} : { server }),
              tool,
              arguments: block.arguments,
            },
          },
        ]
      })
      return [...notices.map((notice) => processing(notice)), ...calls]
    }
    case 'tool':
      return toolEvents(entry.fact)
    case 'unreadable':
      return []
    default:
      return entry satisfies never
  }
}

/** The events at the end of a question. */
export function questionEvents(asked: AskedQuestion, end: QuestionEnd): Unplaced[] {
  const about = aboutQuestion(asked)
  const name = `${asked.server}.${asked.tool}`
  const isApproval = asked.type === 'approval-required'
  switch (end.state) {
    case 'answered': {
      const { action } = end.answer
      const message = isApproval
        ? `${name} was ${action === 'accept' ? 'allowed' : 'refused'}`
        : `${name} goes on: its question was answered`
      return [
        processing(message, name),
        { type: 'input', payload: { state: end.state, ...about, action, by: end.by } },
      ]
    }
    case 'expired': {
      const message = isApproval
        ? `${name} was not allowed in time`
        : `${name} goes on: its question was not answered in time`
      return [processing(message, name), { type: 'input', payload: { state: end.state, ...about } }]
    }
    case 'void':
      // The reason is reported by another status.
      return [{ type: 'input', payload: { state: end.state, ...about } }]
    default:
      return end satisfies never
  }
}

function aboutQuestion(asked: AskedQuestion) {
  const { id, call, server, tool, message } = asked
  const kind = asked.type === 'approval-required' ? ('approval' as const) : asked.kind
  return { id, kind, callId: call, server, tool, message }
}

function controlEvents(fact: ControlFact): Unplaced[] {
  switch (fact.type) {
    case 'input-answered':
      // The meaning depends on the question: see questionEvents().
      return []
    case 'call-cancel-requested':
      // The end of the call reports it.
      return []
    case 'cancel-requested':
      // Whether it concerns the running turn is unknown here. The end of the turn reports it.
      return []
    case 'model-chosen':
    case 'settings-chosen':
      // Each answer names its model.
      return []
    case 'session-deleted':
      return [{ type: 'session', payload: { state: 'deleted' } }]
    default:
      return fact satisfies never
  }
}

function turnEvents(fact: TurnEvent): Unplaced[] {
  switch (fact.type) {
    case 'turn-claimed': {
      // Clients do not see that another orchestrator took the turn over.
      if (fact.epoch > 1) return []
      const { messageId, missing = [] } = fact
      return [
        { type: 'turn', payload: { state: 'started', messageId } },
        ...(missing.length === 0
          ? []
          : [processing(`Not available right now: ${missing.join(', ')}`)]),
        processing('Thinking'),
      ]
    }
    case 'generation-started': {
      const { voids, reason } = fact
      if (voids === undefined) return []
      return resetEvents(
        reason === undefined
          ? 'The answer was interrupted and is written anew'
          : `The model did not answer (${reason}); trying again`,
      )
    }
    case 'tool-settled':
      return settledEvents(fact)
    case 'approval-required':
      return approvalEvents(fact)
    case 'turn-waiting':
      // The orchestrator of a turn is not reported to clients.
      if (fact.for === 'owner') return []
      return [{ type: 'turn', payload: { state: 'waiting', until: fact.until } }]
    case 'context-compacted': {
      const { how, tokensBefore, tokensAfter } = fact
      const message = COMPACTED[how]
      return [
        processing(message),
        { type: 'context', payload: { how, message, tokensBefore, tokensAfter } },
      ]
    }
    case 'turn-done':
      return doneEvents(fact)
    default:
      return fact satisfies never
  }
}

const COMPACTED: Readonly<Record<ContextCompacted['how'], string>> = {
  cleared: 'The conversation is long: earlier tool results are left out from here on',
  summarised: 'The conversation is long: what was said earlier is summarised from here on',
  dropped: 'The conversation is long: its beginning is left out from here on',
}

function settledEvents(fact: TurnEvent & { type: 'tool-settled' }): Unplaced[] {
  const { call, server, tool, outcome, message } = fact
  const name = server === undefined ? tool : `${server}.${tool}`
  const content = [{ type: 'text', text: message }]
  const said = {
    answered: `${name} is done`,
    cancelled: `${name} was stopped`,
    refused: toolError(name, message),
    unknown: toolError(name, message),
  }
  return [
    {
      type: 'status',
      payload: {
        state: 'complete',
        tool: name,
        message: said[outcome],
        data: { content, isError: outcome !== 'answered' },
      },
    },
    {
      type: 'tool',
      payload: {
        state: 'result',
        callId: call,
        ...(server === undefined ? {} : { server }),
        tool,
        outcome: outcome === 'answered' ? 'ok' : outcome,
        content,
      },
    },
  ]
}

function approvalEvents(fact: ApprovalRequired): Unplaced[] {
  const name = `${fact.server}.${fact.tool}`
  return [
    processing(`${name} waits for your permission`, name),
    {
      type: 'input',
      payload: {
        state: 'required',
        ...aboutQuestion(fact),
        mode: 'approval',
        arguments: fact.arguments,
        expiresAt: fact.expiresAt,
      },
    },
  ]
}

function resetEvents(message: string): Unplaced[] {
  return [{ type: 'reset', payload: { message } }, processing(message)]
}

function doneEvents(fact: TurnEvent & { type: 'turn-done' }): Unplaced[] {
  const { messageId, outcome, voids, error, message, usage } = fact
  const said = error?.message ?? (outcome === 'cancelled' ? 'Stopped' : 'Done')
  return [
    ...(voids === undefined ? [] : resetEvents('The unfinished answer was lost')),
    // The message is part of the answer, so that simple clients show it.
    ...(message === undefined || message === ''
      ? []
      : [{ type: 'text' as const, payload: { content: message } }]),
    { type: 'status', payload: { state: 'complete', message: said } },
    {
      type: 'turn',
      payload: {
        state: 'done',
        ...(messageId === undefined ? {} : { messageId }),
        outcome,
        ...(error === undefined ? {} : { error }),
        ...(usage === undefined ? {} : { usage }),
      },
    },
  ]
}

function toolEvents(fact: ToolFact): Unplaced[] {
  switch (fact.type) {
    case 'tool-started':
    case 'input-closed':
      return []
    case 'tool-finished':
      return resultEvents(fact)
    case 'input-required': {
      const { server, tool, message, mode, requestedSchema, url, expiresAt } = fact
      const name = `${server}.${tool}`
      return [
        processing(`${name} waits for your answer: ${message}`, name),
        {
          type: 'input',
          payload: {
            state: 'required',
            ...aboutQuestion(fact),
            mode,
            ...(requestedSchema === undefined ? {} : { requestedSchema }),
            ...(url === undefined ? {} : { url }),
            expiresAt,
          },
        },
      ]
    }
    default:
      return fact satisfies never
  }
}

function resultEvents(fact: ToolFinished): Unplaced[] {
  const { call, server, tool, content, structuredContent, error, blob, durationMs } = fact
  const outcome = toolOutcome(fact)
  const name = `${server}.${tool}`
  const structured = structuredContent === undefined ? {} : { structuredContent }
  return [
    {
      type: 'status',
      payload: {
        state: 'complete',
        tool: name,
        message: {
          ok: `${name} is done`,
          cancelled: `${name} was stopped`,
          error: toolError(name, error?.message ?? textOf(content)),
          unknown: toolError(name, error?.message ?? textOf(content)),
        }[outcome],
        // Content blocks are JSON, which the contract of the frame validates.
        data: { content: content as never, ...structured, isError: outcome !== 'ok' },
      },
    },
    {
      type: 'tool',
      payload: {
        state: 'result',
        callId: call,
        server,
        tool,
        outcome,
        content,
        ...structured,
        ...(error === undefined ? {} : { error }),
        ...(blob === undefined ? {} : { blob }),
        durationMs,
      },
    },
  ]
}

function processing(message: string, tool?: string): Unplaced {
  const about = tool === undefined ? {} : { tool }
  return { type: 'status', payload: { state: 'processing', ...about, message } }
}

function textOf(content: readonly { [key: string]: unknown }[]): string {
  const first = content.find((block) => typeof block['text'] === 'string')
  return first === undefined ? 'it failed' : String(first['text'])
}
