import type { Fetch } from './bounded-fetch.ts'
import { sleep } from '@mcp-host/async'
import { TokenBucket } from '../policies/token-bucket.ts'

const EVENT_STREAM = /^text\/event-stream\b/i
/** The pause after the first stream that was of no use; it doubles with each further one. */
const FIRST_PAUSE_MS = 2_000
const MAX_PAUSE_MS = 300_000
/** A stream that stays open for this long is of use, even if the server has nothing to say. */
const LASTING_MS = 30_000
const STREAMS_PER_SECOND = 10
const STREAMS_AT_ONCE = 50

/**
 * `fetch` for Streamable HTTP, whose client opens the stream of notifications by GET, and again whenever it ends. An
 * answer that is no stream counts as the refusal that servers without a stream should send. A server that ends its
 * streams at once, without an event, is asked less and less often.
 */
export function pacedStreams(fetch: Fetch): Fetch {
  let useless = 0
  return async (url, init) => {
    if (init?.method !== 'GET') return fetch(url, init)
    // The answer to a request may be in the rest of a stream.
    const isResumed = new Headers(init.headers).has('last-event-id')
    if (useless > 0 && !isResumed) {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (useless - 1), MAX_PAUSE_MS)
      await sleep(pauseMs, init.signal ?? undefined)
    }
    const response = await fetch(url, init)
    const { ok, status, statusText, headers, body } = response
    if (!ok) return response
    if (body === null || !EVENT_STREAM.test(headers.get('content-type') ?? '')) {
      void body?.cancel()
      return withUrl(new Response(null, { status: 405 }), response.url)
    }
    const watched = watch(body, (isUseful) => (useless = isUseful ? 0 : useless + 1))
    const stream = new Response(ReadableStream.from(watched), { status, statusText, headers })
    return withUrl(stream, response.url)
  }
}

/**
 * `fetch` whose client opens streams by GET as soon as the server wants, with a limited rate: each request that waits for
 * an answer may have a stream of its own.
 */
export function limitedStreams(fetch: Fetch): Fetch {
  const opened = new TokenBucket({ perSecond: STREAMS_PER_SECOND, burst: STREAMS_AT_ONCE })
  return async (url, init) => {
    while (init?.method === 'GET' && !opened.take()) {
      await sleep(1_000 / STREAMS_PER_SECOND, init.signal ?? undefined)
    }
    return fetch(url, init)
  }
}

/** Passes the events of a stream on, one by one. At its end `onEnd` is told whether it was of use. */
async function* watch(
  events: AsyncIterable<Uint8Array>,
  onEnd: (isUseful: boolean) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const openedAt = performance.now()
  let hasEvent = false
  try {
    for await (const event of events) {
      hasEvent ||= Buffer.from(event.buffer, event.byteOffset, event.length).includes('data')
      yield event
    }
  } finally {
    onEnd(hasEvent || performance.now() - openedAt >= LASTING_MS)
  }
}

/** A constructed response has no `url`, from which the SDK detects redirects. */
function withUrl(response: Response, url: string): Response {
  return Object.defineProperty(response, 'url', { value: url })
}
