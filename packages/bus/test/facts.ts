import type { Envelope, LogFact, SessionId } from '@mcp-host/contracts'
import { generationId, newEnvelope, toolCallId } from '@mcp-host/contracts'

export const envelope: Envelope = newEnvelope('local')

/** A user message, on the session's input subject. */
export const said = (id: string, text = id): LogFact => ({ kind: 'input', fact: { id, text } })

/** A turn event, on the session's fenced subject. */
export const claimed = (orchestrator: string, seen = 0): LogFact => ({
  kind: 'turn',
  fact: { type: 'turn-claimed', turn: 1, seen, messageId: 'm', orchestrator, epoch: 1 },
})

/** A tool fact, on a third subject. */
export const started = (session: SessionId, attempt: number): LogFact => ({
  kind: 'tool',
  fact: {
    type: 'tool-started',
    call: toolCallId(generationId(session, 0), 0),
    attempt,
    supervisor: 's',
    nonce: 'n',
  },
})
