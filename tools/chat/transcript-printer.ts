import type { SessionEvent } from '@mcp-host/contracts'

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

  print(event: SessionEvent): void {
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
        if (event.payload.state === 'done' && event.payload.error !== undefined) {
          this.#line(`Sorry: ${event.payload.error.message}`)
        } else this.#endLine()
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

  #tool(payload: Extract<SessionEvent, { type: 'tool' }>['payload']): void {
    if (payload.state === 'call') {
      const name = payload.server === undefined ? payload.tool : `${payload.server}.${payload.tool}`
      this.#line(`→ ${name} ${JSON.stringify(payload.arguments)}`)
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
    switch (payload.state) {
      case 'required':
        return this.#endLine()
      case 'answered':
        return this.#line(dim(`(the question of ${name} has its answer: ${payload.action})`))
      case 'expired':
        return this.#line(dim(`(the question of ${name} was not answered in time)`))
      case 'void':
        return this.#line(dim(`(the question of ${name} needs no answer any more)`))
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
