import type { Envelope, LogFact, SessionId } from '@mcp-host/contracts'
import { generationId, newEnvelope, toolCallId } from '@mcp-host/contracts'

export const envelope: Envelope = newEnvelope('local')

/** A user message, for the input subject of a session. */
export const userMessage = (id: string, text = id): LogFact => ({
  kind: 'input',
  fact: { id, text },
})

/** A turn event, for the fenced subject of a session. */
export const turnClaimed = (orchestrator: string, seen = 0): LogFact => ({
  kind: 'turn',
  fact: { type: 'turn-claimed', turn: 1, seen, messageId: 'm', orchestrator, epoch: 1 },
})

/** A tool fact, for a third subject. */
export const toolStarted = (session: SessionId, attempt: number): LogFact => ({
  kind: 'tool',
  fact: {
    type: 'tool-started',
    call: toolCallId(generationId(session, 0), 0),
    attempt,
    supervisor: 's',
    nonce: 'n',
  },
})
