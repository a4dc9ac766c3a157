import type {
  InputRequired,
  LogEntry,
  QuestionEnd,
  SessionEvent,
  ToolFact,
  ToolFinished,
  TurnEvent,
} from '@mcp-host/contracts'

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** An event of the stream before it has its place there. */
export type Unplaced = WithoutId<SessionEvent>

/** What one entry of the log means to a client, in order. Pure: the same for every reader. */
export function logEvents(entry: LogEntry): Unplaced[] {
  switch (entry.kind) {
    case 'input':
      return [{ type: 'user', payload: { messageId: entry.fact.id, text: entry.fact.text } }]
    case 'control':
      // What an answer means depends on the question: questionEvents() has it.
      return []
    case 'turn':
      return turnEvents(entry.fact)
    case 'generation':
      if (entry.fact.outcome !== 'completed') return []
      return entry.fact.content.flatMap((block) => {
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
    case 'tool':
      return toolEvents(entry.fact)
    default:
      return entry satisfies never
  }
}

/** What the end of a question means to a client. */
export function questionEvents(asked: InputRequired, end: QuestionEnd): Unplaced[] {
  const about = aboutQuestion(asked)
  const name = `${asked.server}.${asked.tool}`
  switch (end.state) {
    case 'answered': {
      const { action } = end.answer
      return [
        processing(`${name} goes on: its question was answered`, name),
        { type: 'input', payload: { state: end.state, ...about, action, by: end.by } },
      ]
    }
    case 'expired':
      return [
        processing(`${name} goes on: its question was not answered in time`, name),
        { type: 'input', payload: { state: end.state, ...about } },
      ]
    case 'void':
      // What ended it has a status of its own.
      return [{ type: 'input', payload: { state: end.state, ...about } }]
    default:
      return end satisfies never
  }
}

function aboutQuestion({ id, kind, call, server, tool, message }: InputRequired) {
  return { id, kind, callId: call, server, tool, message }
}

function turnEvents(fact: TurnEvent): Unplaced[] {
  switch (fact.type) {
    case 'turn-claimed':
      // A take-over is not the client's business: the turn simply goes on.
      if (fact.epoch > 1) return []
      return [
        { type: 'turn', payload: { state: 'started', messageId: fact.messageId } },
        processing('Thinking'),
      ]
    case 'generation-started': {
      if (fact.voids === undefined) return []
      const message = 'The answer was interrupted and is written anew'
      return [{ type: 'reset', payload: { message } }, processing(message)]
    }
    case 'tool-settled': {
      const { call, server, tool, outcome, message } = fact
      const name = server === undefined ? tool : `${server}.${tool}`
      const content = [{ type: 'text', text: message }]
      return [
        {
          type: 'status',
          payload: {
            state: 'complete',
            tool: name,
            message: toolError(name, message),
            data: { content, isError: true },
          },
        },
        {
          type: 'tool',
          payload: {
            state: 'result',
            callId: call,
            ...(server === undefined ? {} : { server }),
            tool,
            outcome,
            content,
          },
        },
      ]
    }
    case 'turn-done':
      return [
        {
          type: 'status',
          payload: { state: 'complete', message: fact.error?.message ?? 'Done' },
        },
        {
          type: 'turn',
          payload: {
            state: 'done',
            outcome: fact.outcome,
            ...(fact.error === undefined ? {} : { error: fact.error }),
          },
        },
      ]
    default:
      return fact satisfies never
  }
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
  const { call, server, tool, outcome, content, structuredContent, error, blob, durationMs } = fact
  const name = `${server}.${tool}`
  const structured = structuredContent === undefined ? {} : { structuredContent }
  return [
    {
      type: 'status',
      payload: {
        state: 'complete',
        tool: name,
        message:
          outcome === 'ok' ? `${name} is done` : toolError(name, error?.message ?? textOf(content)),
        // Content blocks came as JSON; the contract of the frame checks it.
        data: { content: content as never, ...structured, isError: outcome === 'error' },
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

/** The standard message when a tool failed. */
function toolError(tool: string, reason: string): string {
  return `Tool error: ${tool}: ${reason.slice(0, 500)}`
}

function textOf(content: readonly { [key: string]: unknown }[]): string {
  const first = content.find((block) => typeof block['text'] === 'string')
  return first === undefined ? 'it failed' : String(first['text'])
}
