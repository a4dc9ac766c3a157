const MAX_CHARACTERS = 500

/** An error and its causes in one line, as in `fetch failed: connect ECONNREFUSED 127.0.0.1:80`. */
export function describeCause(error: unknown): string {
  const parts: string[] = []
  for (let each = error; each !== undefined && parts.length < 5; each = next(each)) {
    const message = each instanceof Error ? each.message : typeof each === 'string' ? each : ''
    // Wrapping errors often repeat the message of their cause.
    if (message !== '' && !parts.some((part) => part.includes(message))) parts.push(message)
  }
  const text = parts.join(': ').replaceAll(/\s+/g, ' ')
  return text.slice(0, MAX_CHARACTERS).toWellFormed()
}

function next(error: unknown): unknown {
  // Connecting has failed for each address of a host name; the first error is shown.
  if (error instanceof AggregateError) return error.errors[0]
  return error instanceof Error ? error.cause : undefined
}
