import type { ClientCapabilities } from '@modelcontextprotocol/client'

import type { ServerRequestKind } from '../requests/server-request.ts'

/** Client capabilities for the answered kinds of requests. */
export function clientCapabilities(
  answered: ReadonlySet<ServerRequestKind>,
  roots: readonly string[],
): ClientCapabilities {
  return {
    ...(answered.has('sampling') ? { sampling: {} } : {}),
    ...(answered.has('elicitation')
      ? { elicitation: { form: { applyDefaults: true }, url: {} } }
      : {}),
    ...(answered.has('roots') || roots.length > 0 ? { roots: {} } : {}),
  }
}
