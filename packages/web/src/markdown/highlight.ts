import type { CodePiece } from './highlight-code.ts'

/** Longer code stays plain. */
const MAX_LENGTH = 50_000
/** Usual code takes a millisecond for each kilobyte. Some takes minutes, as the grammars look back and forth in long lines. */
const LIMIT_MS = 1_000

export interface HighlightRequest {
  readonly code: string
  readonly language: string
}

/** Of the thread: that the language is loaded, then the pieces. */
export interface HighlightMessage {
  readonly isLoaded?: true
  readonly pieces?: CodePiece[] | undefined
}

/** The part of a `Worker` that is used here. */
export type HighlightThread = Pick<
  Worker,
  'addEventListener' | 'postMessage' | 'removeEventListener' | 'terminate'
>

/** Code that takes too long. */
export class SlowCode extends Error {
  override readonly name = 'SlowCode'
}

/** Finds the pieces of codes in a thread, one code after another, so that the page goes on meanwhile. */
export class Highlighter {
  readonly #start: () => HighlightThread
  #thread: HighlightThread | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(start: () => HighlightThread) {
    this.#start = start
  }

  /**
   * The pieces of a code; `undefined` for an unknown language, very long code, and when the signal aborts before its turn.
   * Rejects with `SlowCode`.
   */
  highlight(request: HighlightRequest, signal: AbortSignal): Promise<CodePiece[] | undefined> {
    if (request.language === '' || request.code.length > MAX_LENGTH) {
      return Promise.resolve(undefined)
    }
    const pieces = this.#last.then(() => (signal.aborted ? undefined : this.#ask(request)))
    this.#last = pieces.catch(() => undefined)
    return pieces
  }

  async #ask(request: HighlightRequest): Promise<CodePiece[] | undefined> {
    const thread = (this.#thread ??= this.#start())
    const answer = Promise.withResolvers<CodePiece[] | undefined>()
    let limit: ReturnType<typeof setTimeout> | undefined
    const onMessage = ({ data }: MessageEvent<HighlightMessage>): void => {
      if (data.isLoaded !== true) return answer.resolve(data.pieces)
      limit = setTimeout(() => this.#end(answer.reject, new SlowCode()), LIMIT_MS)
    }
    // As where the program of the thread cannot be loaded: the code stays plain.
    const onError = (): void => this.#end(answer.resolve, undefined)
    thread.addEventListener('message', onMessage)
    thread.addEventListener('error', onError)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- between threads there is none
    thread.postMessage(request)
    try {
      return await answer.promise
    } finally {
      clearTimeout(limit)
      thread.removeEventListener('message', onMessage)
      thread.removeEventListener('error', onError)
    }
  }

  /** Ends the thread, whose successor starts with the next code. */
  #end<T>(settle: (value: T) => void, value: T): void {
    this.#thread?.terminate()
    this.#thread = undefined
    settle(value)
  }
}

export const highlighter = new Highlighter(
  () => new Worker(new URL('./highlight-worker.ts', import.meta.url), { type: 'module' }),
)
