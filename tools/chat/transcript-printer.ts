import type { SessionEvent } from '@mcp-host/contracts'
import { plain } from '../plain.ts'
import type { ClientEvent } from '@mcp-host/client'
import { countOf, settledText } from '@mcp-host/client'

/** The maximum length of a printed tool result. */
const MAX_RESULT_LINES = 8

type Style = (text: string) => string

const asIs: Style = (text) => text
const dim: Style = (text) => (process.stdout.isTTY ? `\u001B[2m${text}\u001B[0m` : text)

/** Prints a session's events for a person: text as it comes, tool calls with arguments and time. */
export class TranscriptPrinter {
  readonly #write: (text: string) => void
  readonly #note: (text: string) => void
  #isInLine = false
  #isThinking = false
  /** The text of the running turn since its last reset. */
  #text = ''
  #isRetried = false

  /** `write` prints what belongs to the transcript. `note` prints signs of life beside an output that is no terminal. */
  constructor(write: (text: string) => void, note: (text: string) => void) {
    this.#write = write
    this.#note = note
  }

  print(event: ClientEvent): void {
    switch (event.type) {
      case 'text':
        if (this.#isThinking) this.#endLine()
        this.#isThinking = false
        this.#text += event.payload.content
        this.#inLine(event.payload.content)
        return
      case 'thinking':
        // Printed only on a terminal, since it is no part of the answer.
        if (!process.stdout.isTTY) return
        if (!this.#isThinking) this.#endLine()
        this.#isThinking = true
        this.#inLine(event.payload.content, dim)
        return
      case 'tool':
        this.#tool(event.payload)
        return
      case 'reset':
        this.#reset(event.payload.message)
        return
      case 'turn':
        this.#turn(event.payload)
        return
      case 'context':
        this.#line(`(${event.payload.message})`, dim)
        return
      case 'session':
        this.#line('(this session was deleted)', dim)
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
        this.#text = ''
        this.#isRetried = false
        return this.#endLine()
      case 'waiting': {
        // Elsewhere the question has been declined, since nobody can answer it.
        if (!process.stdin.isTTY) return
        const until = new Date(payload.until).toLocaleTimeString()
        return this.#line(`(waiting for an answer until ${until})`, dim)
      }
      case 'done':
        // The answer may have given the reason.
        if (payload.error !== undefined && !this.#text.includes(payload.error.message))
          this.#line(`Sorry: ${payload.error.message}`)
        else if (payload.outcome === 'cancelled') this.#line('(stopped)', dim)
        else this.#endLine()
        return
      default:
        payload satisfies never
    }
  }

  /** Says why printed text is void. Retries without text are named once per turn, as a sign of life: the end has the reason. */
  #reset(message: string): void {
    if (this.#text !== '') this.#line(`(${message})`, dim)
    else if (!this.#isRetried) {
      const sign = '(no answer yet; trying again)'
      if (process.stdout.isTTY) this.#line(sign, dim)
      else this.#note(`${sign}\n`)
    }
    this.#text = ''
    this.#isRetried = true
  }

  /** Printed only on a terminal. */
  #queue(count: number): void {
    if (!process.stdout.isTTY || count === 0) return
    this.#line(`(${countOf(count, 'message')} ${count === 1 ? 'waits' : 'wait'})`, dim)
  }

  #tool(payload: Extract<ClientEvent, { type: 'tool' }>['payload']): void {
    if (payload.state === 'call') {
      const name = payload.server === undefined ? payload.tool : `${payload.server}.${payload.tool}`
      this.#line(`→ ${name} ${JSON.stringify(payload.arguments)}`)
      return
    }
    if (payload.state === 'progress') {
      const { server, tool, progress, total, message } = payload
      const figures = total === undefined ? `${progress}` : `${progress} of ${total}`
      if (process.stdout.isTTY)
        this.#line(`… ${server}.${tool} ${figures} ${message ?? ''}`.trimEnd(), dim)
      return
    }
    const took = payload.durationMs === undefined ? '' : ` in ${Math.round(payload.durationMs)} ms`
    const said = payload.error?.message ?? textOf(payload.content)
    const text =
      payload.outcome === 'refused' || payload.outcome === 'cancelled' ? settledText(said) : said
    const lines = text.split('\n')
    const name = payload.server === undefined ? payload.tool : `${payload.server}.${payload.tool}`
    this.#line(`← ${name} ${payload.outcome}${took}`)
    for (const line of lines.slice(0, MAX_RESULT_LINES)) this.#line(`  ${line.slice(0, 200)}`, dim)
    if (lines.length > MAX_RESULT_LINES)
      this.#line(`  … ${countOf(lines.length - MAX_RESULT_LINES, 'more line')}`, dim)
  }

  /** The question itself is printed when the user is asked. */
  #input(payload: Extract<SessionEvent, { type: 'input' }>['payload']): void {
    const name = `${payload.server}.${payload.tool}`
    const question = payload.kind === 'approval' ? `question about ${name}` : `question of ${name}`
    switch (payload.state) {
      case 'required':
        return this.#endLine()
      case 'answered':
        return this.#line(`(the ${question} has its answer: ${payload.action})`, dim)
      case 'expired':
        return this.#line(`(the ${question} was not answered in time)`, dim)
      case 'void':
        return this.#line(`(the ${question} needs no answer any more)`, dim)
      default:
        return payload satisfies never
    }
  }

  /** Prints text. `text` may come from servers and models, unlike the codes that `style` adds. */
  #inLine(text: string, style: Style = asIs): void {
    this.#write(style(plain(text)))
    this.#isInLine = true
  }

  #endLine(): void {
    if (this.#isInLine) this.#write('\n')
    this.#isInLine = false
    this.#isThinking = false
  }

  #line(text: string, style: Style = asIs): void {
    this.#endLine()
    this.#write(`${style(plain(text))}\n`)
  }
}

function textOf(content: readonly { readonly [key: string]: unknown }[]): string {
  return content
    .map((block) =>
      typeof block['text'] === 'string' ? block['text'] : `[${String(block['type'])}]`,
    )
    .join('\n')
}
