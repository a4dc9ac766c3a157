import { setImmediate as nextTurn } from 'node:timers/promises'

import type { JSONRPCMessage } from '@modelcontextprotocol/client'

import { inPlaceOf, type Intake, type RefusedMessage } from '../intake/intake.ts'
import { inPlaceOfUnreadable, readMessage } from '../intake/read-message.ts'
import { readJson } from '@mcp-host/json'
import { EventSplitter } from './event-splitter.ts'
import { JoinedParts } from '@mcp-host/process'

/** The size of responses other than results, such as error pages. */
const MAX_OTHER_BYTES = 1024 * 1024
/** Bytes of a large event between two yields to the event loop. */
const SLICE_BYTES = 64 * 1024
/** The cost of an event without data: a server may send 4,000 a second. */
const USELESS_BYTES = 1024
/** Events from this size on are inspected in slices. */
const MIN_LARGE_BYTES = 256 * 1024

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>
type Chunks = AsyncGenerator<Uint8Array, void, undefined>

interface Exchange {
  readonly intake: Intake
  readonly chunks: AsyncIterable<Uint8Array>
  /** The id of the request; undefined without one. */
  readonly id: () => number | string | undefined
}

/**
 * `fetch` with limited responses. A JSON body and each server-sent event have the limits of one message; other bodies
 * have 1 MB. A refused response is replaced by an error for its request.
 */
export function boundedFetch(intake: Intake): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, statusText, headers } = response
    if (body === null) return response
    const exchange = { intake, chunks: body, id: () => idOf(init?.body) }
    const type = response.ok
      ? headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
      : undefined
    const read =
      type === 'text/event-stream' ? readEvents : type === 'application/json' ? readWhole : readSome
    const bounded = new Response(ReadableStream.from(read(exchange)), {
      status,
      statusText,
      headers,
    })
    // A constructed response has no `url`, from which the SDK detects redirects.
    return Object.defineProperty(bounded, 'url', { value: response.url })
  }
}

async function* readWhole({ intake, chunks, id }: Exchange): Chunks {
  using buffered = new BufferedBytes(intake)
  const inspector = intake.inspector()
  const parts = new JoinedParts()
  for await (const chunk of chunks) {
    const pause = intake.pace(chunk.length)
    if (pause !== undefined) await pause
    parts.push(toBuffer(chunk))
    inspector.push(toBuffer(chunk))
    // Leaving the loop ends the request.
    if (!buffered.set(buffered.bytes + chunk.length)) {
      yield encode(buffered.refuse(id()))
      return
    }
    if (inspector.values > intake.limits.messageValues) break
  }
  const bytes = parts.take()
  const refused = intake.judge(inspector, buffered.bytes)
  if (refused !== undefined) yield encode(answerTo(id(), refused))
  else yield bytes.length < MIN_LARGE_BYTES ? mendedBody(bytes, id) : bytes
}

/** A body that can be parsed: as it is, or with control characters escaped, or an error for the request. */
function mendedBody(bytes: Buffer, id: Exchange['id']): Uint8Array {
  const text = bytes.toString()
  if (isJson(text)) return bytes
  try {
    return Buffer.from(JSON.stringify(readJson(text)))
  } catch (error) {
    const answer = inPlaceOfUnreadable(error, { id: id(), hasMethod: false })
    return answer === undefined ? bytes : encode(answer)
  }
}

/** The same for the data of an event. `lines`: all of it. */
function mended(event: Buffer, lines: readonly string[]): Uint8Array {
  const data = lines
    .filter(isData)
    .map((line) => line.slice('data:'.length).replace(/^ /, ''))
    .join('\n')
  if (data === '' || isJson(data)) return event
  try {
    const fields = lines.filter((line) => line !== '' && !isData(line))
    return Buffer.from([...fields, `data: ${JSON.stringify(readMessage(data))}`, '', ''].join('\n'))
  } catch {
    // It is no response; the SDK reports it.
    return event
  }
}

function isData(line: string): boolean {
  return line === 'data' || line.startsWith('data:')
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    // The result is that it is none.
    return false
  }
}

async function* readEvents({ intake, chunks, id }: Exchange): Chunks {
  using buffered = new BufferedBytes(intake)
  const splitter = new EventSplitter()
  for await (const chunk of chunks) {
    const pause = intake.pace(chunk.length)
    if (pause !== undefined) await pause
    for (const event of splitter.push(toBuffer(chunk))) {
      const read =
        event.length < MIN_LARGE_BYTES ? readEvent(intake, event) : readLarge(intake, event)
      const passed = read instanceof Promise ? await read : read
      if (passed !== undefined) yield passed
      const rest = passed === undefined ? intake.pace(USELESS_BYTES) : intake.handled(event.length)
      if (rest !== undefined) await rest
    }
    if (buffered.set(splitter.bytes)) continue
    const refused = buffered.refuse(id())
    if (refused !== undefined) yield toEvent(refused)
    // On a stream for many requests the id of the request is unknown.
    else intake.exceed(buffered.excess)
    return
  }
  yield splitter.rest()
}

async function* readSome({ chunks }: Exchange): Chunks {
  let rest = MAX_OTHER_BYTES
  for await (const chunk of chunks) {
    yield chunk.subarray(0, rest)
    rest -= chunk.length
    if (rest <= 0) return
  }
}

/** What is passed on for an event: itself, mended, or an error for its request. Undefined: nothing. */
function readEvent(intake: Intake, event: Buffer): Uint8Array | undefined {
  const refused = intake.check(event)
  if (refused !== undefined) return inPlaceOfEvent(refused)
  const lines = event.toString().split(/\r\n|\n|\r/)
  if (lines.some(isData)) return mended(event, lines)
  // Comments keep a connection alive; of all others only the time for the next stream is of use.
  return intake.takeUseless() && lines.some((line) => line.startsWith('retry')) ? event : undefined
}

async function readLarge(intake: Intake, event: Buffer): Promise<Uint8Array | undefined> {
  const inspector = intake.inspector()
  for (let at = 0; at < event.length; at += SLICE_BYTES) {
    inspector.push(event.subarray(at, at + SLICE_BYTES))
    await nextTurn()
  }
  const refused = intake.judge(inspector, event.length)
  return refused === undefined ? event : inPlaceOfEvent(refused)
}

function inPlaceOfEvent(refused: RefusedMessage): Uint8Array | undefined {
  const answer = inPlaceOf(refused)
  return answer === undefined ? undefined : toEvent(answer)
}

/** The buffered bytes of one incomplete message. */
class BufferedBytes implements Disposable {
  readonly #intake: Intake
  bytes = 0

  constructor(intake: Intake) {
    this.#intake = intake
  }

  /** The reason to end the connection: the rest of a sentence. */
  get excess(): string {
    const { messageBytes, bufferedBytes } = this.#intake.limits
    return this.bytes > messageBytes
      ? `sent a message of more than ${messageBytes} bytes`
      : `sent more than ${bufferedBytes} bytes of unfinished messages at a time`
  }

  /**
   * Sets the size of the buffer. Returns `false` when the message, or all unfinished messages together, are too large.
   */
  set(bytes: number): boolean {
    const hasRoom = this.#intake.hold(bytes - this.bytes)
    this.bytes = bytes
    return hasRoom && bytes <= this.#intake.limits.messageBytes
  }

  /** The error response that replaces the message; undefined without a request. */
  refuse(id: number | string | undefined): JSONRPCMessage | undefined {
    const { messageBytes, bufferedBytes } = this.#intake.limits
    const reason =
      this.bytes > messageBytes
        ? `has more than ${messageBytes} bytes; ask for less at a time`
        : `does not fit beside others: more than ${bufferedBytes} bytes together are unfinished`
    return answerTo(id, this.#intake.refuse(reason, { id, hasMethod: false }, this.bytes))
  }

  [Symbol.dispose](): void {
    this.#intake.hold(-this.bytes)
    this.bytes = 0
  }
}

/** The error response to the request; the id of the refused response is not used. */
function answerTo(
  id: number | string | undefined,
  { reason }: RefusedMessage,
): JSONRPCMessage | undefined {
  return inPlaceOf({ reason, shape: { id, hasMethod: false } })
}

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

function encode(message: JSONRPCMessage | undefined): Uint8Array {
  return Buffer.from(JSON.stringify(message ?? {}))
}

function toEvent(message: JSONRPCMessage): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(message)}\n\n`)
}

function idOf(body: RequestInit['body']): number | string | undefined {
  if (typeof body !== 'string') return undefined
  // The body is a message of this host, which the SDK has serialised.
  const { id } = JSON.parse(body) as { readonly id?: number | string }
  return id
}
