const MAX_BYTES = 512 * 1024

/** `fetch` for responses of an identity provider. Rejects when a response has more than 512 KB. */
export async function limitedFetch(input: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init)
  if (response.body === null) return response
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body) {
    bytes += piece.length
    if (bytes > MAX_BYTES) throw new Error(`the answer has more than ${MAX_BYTES} bytes`)
    pieces.push(piece)
  }
  const { status, statusText, headers } = response
  return new Response(Buffer.concat(pieces), { status, statusText, headers })
}
