/** One server-sent event. */
export interface ServerEvent {
  readonly id: string | undefined
  /** Empty for a comment, by which a stream shows that it is alive. */
  readonly data: string
}

/** The events of a stream as a gateway writes it: fields of one line each. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      // A proxy may write other ends of lines.
      const blocks = (rest + decoder.decode(value, { stream: true }))
        .replaceAll('\r\n', '\n')
        .split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const lines = block.split('\n')
        const field = (name: string): string | undefined =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
        yield { id: field('id'), data: field('data') ?? '' }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
