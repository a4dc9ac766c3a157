import type { Bus } from '@mcp-host/bus'
import type { CallContract, Principal } from '@mcp-host/contracts'
import { BusError, newEnvelope } from '@mcp-host/contracts'

const TIMEOUT_MS = 10_000

/** Sends a request about a session to an orchestrator, and returns the reply. */
export async function askOrchestrator<Request, Reply>(
  bus: Bus,
  contract: CallContract<string, Request, Reply>,
  request: Request,
  principal: Principal,
): Promise<Reply> {
  const options = { envelope: newEnvelope(principal), timeoutMs: TIMEOUT_MS }
  try {
    return await bus.call(contract, {}, request, options)
  } catch (error) {
    const { code, message, field, reason } = BusError.from(error)
    // The parameter of the path has another name than the field of the contract.
    if (field === 'session') throw new BusError(code, message, { field: 'id', reason })
    throw error
  }
}
