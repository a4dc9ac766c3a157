import type { SessionEvent } from '@mcp-host/contracts'
import type { ChatEvent } from './chat-client.ts'

/** How much of a tool's result is shown. */
const MAX_RESULT_LINES = 8

const dim = (text: string): string => (process.stdout.isTTY ? `\u001B[2m${text}\u001B[0m` : text)

/** Prints a session's events for a person: text as it comes, tool calls with arguments and time. */
export class TranscriptPrinter {
  readonly #write: (text: string) => void
  #isInLine = false
  #isThinking = false

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  print(event: ChatEvent): void {
    switch (event.type) {
      case 'text':
        if (this.#isThinking) this.#endLine()
        this.#isThinking = false
        this.#inLine(event.payload.content)
        return
      case 'thinking':
        // Not the answer: only where a person watches.
        if (!process.stdout.isTTY) return
        if (!this.#isThinking) this.#endLine()
        this.#isThinking = true
        this.#inLine(dim(event.payload.content))
        return
      case 'tool':
        this.#tool(event.payload)
        return
      case 'reset':
        this.#line(dim(`(${event.payload.message})`))
        return
      case 'turn':
        this.#turn(event.payload)
        return
      case 'context':
        this.#line(dim(`(${event.payload.message})`))
        return
      case 'session':
        this.#line(dim('(this session was deleted)'))
        return
      case 'queue':
        this.#queue(event.payload.messages.length)
        return
      case 'input':
        this.#input(event.payload)
        return
      case 'user':
      case 'status':
        return
      default:
        event satisfies never
    }
  }

  #turn(payload: Extract<SessionEvent, { type: 'turn' }>['payload']): void {
    switch (payload.state) {
      case 'started':
        return this.#endLine()
      case 'waiting': {
        const until = new Date(payload.until).toLocaleTimeString()
        return this.#line(dim(`(waiting for an answer until ${until})`))
      }
      case 'done':
        if (payload.error !== undefined) this.#line(`Sorry: ${payload.error.message}`)
        else if (payload.outcome === 'cancelled') this.#line(dim('(stopped)'))
        else this.#endLine()
        return
      default:
        payload satisfies never
    }
  }

  /** Only where a person watches. */
  #queue(count: number): void {
    if (!process.stdout.isTTY || count === 0) return
    this.#line(dim(`(${count === 1 ? 'one message waits' : `${count} messages wait`})`))
  }

  #tool(payload: Extract<ChatEvent, { type: 'tool' }>['payload']): void {
    if (payload.state === 'call') {
      const name = payload.server === undefined ? payload.tool : `${payload.server}.${payload.tool}`
      this.#line(`→ ${name} ${JSON.stringify(payload.arguments)}`)
      return
    }
    if (payload.state === 'progress') {
      const { server, tool, progress, total, message } = payload
      const figures = total === undefined ? `${progress}` : `${progress} of ${total}`
      if (process.stdout.isTTY)
        this.#line(dim(`… ${server}.${tool} ${figures} ${message ?? ''}`.trimEnd()))
      return
    }
    const took = payload.durationMs === undefined ? '' : ` in ${Math.round(payload.durationMs)} ms`
    const text = payload.error?.message ?? textOf(payload.content)
    const lines = text.split('\n')
    const shown = lines.slice(0, MAX_RESULT_LINES).map((line) => dim(`  ${line.slice(0, 200)}`))
    if (lines.length > MAX_RESULT_LINES)
      shown.push(dim(`  … ${lines.length - MAX_RESULT_LINES} more lines`))
    const name = payload.server === undefined ? payload.tool : `${payload.server}.${payload.tool}`
    this.#line([`← ${name} ${payload.outcome}${took}`, ...shown].join('\n'))
  }

  /** The question itself is put by the one who asks the user. */
  #input(payload: Extract<SessionEvent, { type: 'input' }>['payload']): void {
    const name = `${payload.server}.${payload.tool}`
    const question = payload.kind === 'approval' ? `question about ${name}` : `question of ${name}`
    switch (payload.state) {
      case 'required':
        return this.#endLine()
      case 'answered':
        return this.#line(dim(`(the ${question} has its answer: ${payload.action})`))
      case 'expired':
        return this.#line(dim(`(the ${question} was not answered in time)`))
      case 'void':
        return this.#line(dim(`(the ${question} needs no answer any more)`))
      default:
        return payload satisfies never
    }
  }

  #inLine(text: string): void {
    this.#write(text)
    this.#isInLine = true
  }

  #endLine(): void {
    if (this.#isInLine) this.#write('\n')
    this.#isInLine = false
    this.#isThinking = false
  }

  #line(text: string): void {
    this.#endLine()
    this.#write(`${text}\n`)
  }
}

function textOf(content: readonly { readonly [key: string]: unknown }[]): string {
  return content
    .map((block) =>
      typeof block['text'] === 'string' ? block['text'] : `[${String(block['type'])}]`,
    )
    .join('\n')
}
