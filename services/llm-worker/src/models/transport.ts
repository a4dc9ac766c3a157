import { ReadableStream } from 'node:stream/web'
import { wellFormedJson } from '@mcp-host/json'
import {
  type Dispatcher,
  fetch as undiciFetch,
  Headers,
  getGlobalDispatcher,
  type RequestInit,
  Response,
} from 'undici'
import { failureIn } from '../providers/definition/provider-failure.ts'
import { eventsOfWhole } from './whole-answer.ts'

/**
 * Limit for the body of an error response; the rest is neither read nor logged. Larger than the limit for its parsing.
 */
const MAX_ERROR_BYTES = 128 * 1024

/** Limit for one line of a response, such as an event with a picture. Parsers of streams collect whole lines. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
const NEWLINE = 0x0a

/** Time limits of answers are set by the callers. */
const withoutTimeouts: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
  dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler)

/**
 * Like `fetch`, without its time limits. Of an error response only the beginning is read. Throws the error in a response
 * with a status of success. Texts of a request are made well-formed, also those of old sessions: a provider would refuse
 * it whole.
 */
// The same standard, declared once by Node.js and once by undici.
export const providerFetch = (async (input: string, init: RequestInit = {}) => {
  const sent = typeof init.body === 'string' ? { body: wellFormedJson(init.body) } : {}
  const dispatcher = getGlobalDispatcher().compose(withoutTimeouts)
  const response = await undiciFetch(input, { ...init, ...sent, dispatcher })
  const { ok, body, status, statusText } = response
  const headers = new Headers(response.headers)
  if (body === null) return response
  if (!ok) return new Response(beginningOf(body), { status, statusText, headers })
  const { isWhole, stream } = await withoutError(withShortLines(body))
  if (isWhole) headers.set('content-type', 'text/event-stream')
  return new Response(stream, { status, statusText, headers })
}) as unknown as typeof fetch

/**
 * The body, as a stream of events also where it `isWhole`: an answer as JSON. Throws the error that is there as JSON
 * instead of a stream.
 */
async function withoutError(
  body: AsyncGenerator<Uint8Array>,
): Promise<{ readonly isWhole: boolean; readonly stream: ReadableStream }> {
  let begin = Buffer.alloc(0)
  let broken: { readonly cause: unknown } | undefined
  try {
    while (isOpen(begin.toString('utf8'))) {
      const { value, done } = await body.next()
      if (done === true) break
      begin = Buffer.concat([begin, value])
    }
  } catch (cause) {
    // The reader of the body gets it, like every later one.
    broken = { cause }
  }
  const json = parse(new TextDecoder().decode(begin))
  const failure = failureIn(json)
  if (failure !== undefined) {
    await body.return(undefined)
    throw failure
  }
  const events = eventsOfWhole(json)
  if (events !== undefined) {
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
    return { isWhole: true, stream: ReadableStream.from([Buffer.from(text)]) }
  }
  async function* read(): AsyncGenerator<Uint8Array> {
    yield begin
    if (broken !== undefined) throw broken.cause
    yield* body
  }
  return { isWhole: false, stream: ReadableStream.from(read()) }
}

/** Whether a body that begins so may be an error as JSON, which no stream begins like. */
function isOpen(begin: string): boolean {
  return begin.length < MAX_ERROR_BYTES && /^\uFEFF?\s*(?:[{[]|$)/.test(begin)
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // It is a stream, or a longer document.
    return undefined
  }
}

/** A body that fails at a line which is too long. */
async function* withShortLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let lineBytes = 0
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(NEWLINE)
    lineBytes = end === -1 ? lineBytes + chunk.length : chunk.length - end - 1
    if (lineBytes > MAX_LINE_BYTES) {
      throw new Error(`the provider sent a line of more than ${MAX_LINE_BYTES} bytes`)
    }
    yield chunk
  }
}

/** The beginning of a body. The end of the stream closes the connection, even if the provider goes on sending. */
function beginningOf(body: AsyncIterable<Uint8Array>): ReadableStream {
  async function* read(): AsyncGenerator<Uint8Array> {
    let rest = MAX_ERROR_BYTES
    for await (const chunk of body) {
      yield chunk.subarray(0, rest)
      rest -= chunk.length
      if (rest <= 0) return
    }
  }
  return ReadableStream.from(read())
}
