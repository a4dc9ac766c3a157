import { EventSourceParserStream } from 'eventsource-parser/stream'

/**
 * Like `fetch`, with the JSON of each server-sent event of a response converted by a function of `begin`, which is called for
 * each response. An event for which it returns `undefined` is passed over. Text that is no JSON, such as `[DONE]`, stays as it is.
 */
export function mapEvents(
  fetch: typeof globalThis.fetch,
  begin: () => (event: object) => object | undefined,
): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const { ok, body, status, statusText, headers } = response
    const isStream = headers.get('content-type')?.includes('text/event-stream') === true
    if (!ok || body === null || !isStream) return response
    const map = begin()
    const convert = (data: string): string | undefined => {
      const value = parse(data)
      if (value === undefined) return data
      const kept = typeof value === 'object' && value !== null ? map(value) : undefined
      return kept && JSON.stringify(kept)
    }
    const mapped = body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
      .pipeThrough(
        new TransformStream({
          transform({ data }, controller) {
            const kept = convert(data)
            if (kept !== undefined) controller.enqueue(`data: ${kept}\n\n`)
          },
        }),
      )
      .pipeThrough(new TextEncoderStream())
    return new Response(mapped, { status, statusText, headers })
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
