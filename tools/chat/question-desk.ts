import type { Answer } from '@mcp-host/client'
import type { SessionEvent } from '@mcp-host/contracts'
import type { FieldValue } from './form-field.ts'
import { plain } from '../plain.ts'
import { fieldPrompt, formFields, readField } from './form-field.ts'

type InputEvent = Extract<SessionEvent, { type: 'input' }>
type Question = Extract<InputEvent['payload'], { state: 'required' }>

/** Reads one line of the user. `undefined` when no user is there, or the signal aborted first. */
export type ReadLine = (prompt: string, signal: AbortSignal) => Promise<string | undefined>

export interface QuestionDeskOptions {
  readonly write: (text: string) => void
  readonly readLine: ReadLine
  readonly answer: (answer: Answer) => void
}

/** Asks the user the questions of MCP servers and of the host, one after another. */
export class QuestionDesk {
  readonly #options: QuestionDeskOptions
  readonly #open = new Map<
    string,
    { readonly question: Question; readonly gone: AbortController }
  >()
  #last: Promise<void> = Promise.resolve()

  constructor(options: QuestionDeskOptions) {
    this.#options = options
  }

  take({ payload }: InputEvent): void {
    if (payload.state === 'required') {
      this.#open.set(payload.id, { question: payload, gone: new AbortController() })
      this.#enqueue(payload.id)
    } else {
      this.#open.get(payload.id)?.gone.abort()
      this.#open.delete(payload.id)
    }
  }

  /** Called when the gateway refused an answer. Open questions are asked again. */
  refused(
    id: string,
    { code, message }: { readonly code: string; readonly message: string },
  ): void {
    // Another client has answered first, as the session's events report.
    if (code === 'not-found') return
    this.#options.write(`Not accepted: ${plain(message)}\n`)
    this.#enqueue(id)
  }

  #enqueue(id: string): void {
    this.#last = this.#last.then(() => this.#ask(id))
  }

  async #ask(id: string): Promise<void> {
    const { question, gone } = this.#open.get(id) ?? {}
    if (question === undefined || gone === undefined) return
    const answer = await this.#fill(question, gone.signal)
    if (!gone.signal.aborted) this.#options.answer({ id, ...answer })
  }

  async #fill(question: Question, signal: AbortSignal): Promise<Omit<Answer, 'id'>> {
    const { write } = this.#options
    if (question.mode === 'approval') return await this.#allow(question, signal)
    write(plain(`? ${question.server}.${question.tool} asks: ${question.message}\n`))
    if (question.mode === 'url') {
      write(plain(`  ${question.url ?? ''}\n`))
      const line = await this.#line('  Press Enter when you are done there: ', signal)
      return typeof line === 'string' ? { action: 'accept' } : line
    }
    const content = new Map<string, FieldValue>()
    for (const field of formFields(question.requestedSchema)) {
      for (;;) {
        const line = await this.#line(plain(fieldPrompt(field)), signal)
        if (typeof line !== 'string') return line
        const read = readField(field, line)
        if ('fault' in read) {
          write(`  ${read.fault}\n`)
          continue
        }
        if (read.value !== undefined) content.set(field.name, read.value)
        break
      }
    }
    return { action: 'accept', content: Object.fromEntries(content) }
  }

  /** Asks for permission to call a tool. */
  async #allow(question: Question, signal: AbortSignal): Promise<Omit<Answer, 'id'>> {
    const { write } = this.#options
    write(plain(`? ${question.message}\n`))
    const given = JSON.stringify(question.arguments ?? {})
    write(plain(`  ${question.server}.${question.tool} ${given}\n`))
    for (;;) {
      const line = await this.#line('  Allow it? (y/n): ', signal)
      if (typeof line !== 'string') return line
      if (/^\s*(y|yes)\s*$/i.test(line)) return { action: 'accept' }
      if (/^\s*(n|no)\s*$/i.test(line)) return { action: 'decline' }
    }
  }

  /** The line that the user typed, or the outcome without a line. */
  async #line(prompt: string, signal: AbortSignal): Promise<string | Omit<Answer, 'id'>> {
    const { write, readLine } = this.#options
    const line = await readLine(prompt, signal)
    if (line === undefined) {
      if (!signal.aborted) write('(declined: there is nobody here to answer)\n')
      return { action: 'decline' }
    }
    if (line.trim() === '/decline') return { action: 'decline' }
    return line.trim() === '/cancel' ? { action: 'cancel' } : line
  }
}
