import type { Bus } from '@mcp-host/bus'
import type { CallContract, Envelope, SessionId } from '@mcp-host/contracts'
import { BusError } from '@mcp-host/contracts'

const TIMEOUT_MS = 10_000

/**
 * Sends a request about sessions to an orchestrator, and returns the reply. A deleted session is not found although no
 * orchestrator answers.
 */
export async function askOrchestrator<Request extends object, Reply>(
  bus: Bus,
  contract: CallContract<string, Request, Reply>,
  request: Request,
  envelope: Envelope,
): Promise<Reply> {
  const options = { envelope, timeoutMs: TIMEOUT_MS }
  try {
    return await bus.call(contract, {}, request, options)
  } catch (error) {
    const { code, message, field, reason, retryable } = BusError.from(error)
    if (retryable && 'session' in request) {
      // Every request of the contracts that has this field means a session.
      const session = request.session as SessionId
      if (await bus.sessions.isDeleted(session).catch(() => false)) {
        throw new BusError('not-found', `there is no session "${session}"`, { field: 'id' })
      }
    }
    // The parameter of the path has another name than the field of the contract.
    if (field === 'session') throw new BusError(code, message, { field: 'id', reason })
    throw error
  }
}
