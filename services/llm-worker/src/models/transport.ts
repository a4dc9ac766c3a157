import { ReadableStream } from 'node:stream/web'
import { Agent, fetch as undiciFetch, Response } from 'undici'

/** Of an answer of failure: more is neither read nor logged. Larger than what is looked into for words. */
const MAX_ERROR_BYTES = 128 * 1024

/** What all requests to providers share. How long an answer may take is not decided here. */
const agent = new Agent({
  connect: { timeout: 10_000 },
  headersTimeout: 0,
  bodyTimeout: 0,
  // Generations last long, and there are many of them at a time.
  connections: null,
})

/** As `fetch`, with the connections of this process to providers. Of an answer of failure the beginning is read. */
// The same standard, declared once by Node.js and once by undici.
export const providerFetch = (async (input: string, init: object = {}) => {
  const response = await undiciFetch(input, { ...init, dispatcher: agent })
  const { ok, body, status, statusText, headers } = response
  if (ok || body === null) return response
  return new Response(beginningOf(body), { status, statusText, headers })
}) as unknown as typeof fetch

/** Its end closes the connection, on which the provider may go on for ever. */
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
