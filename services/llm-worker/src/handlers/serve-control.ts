import type { Bus } from '@mcp-host/bus'
import type { GenerationId } from '@mcp-host/contracts'
import { generationControl } from '@mcp-host/contracts'

/**
 * Answers pings and cancels for a generation until disposed. Callers take a missing answer for the end of the
 * generation.
 */
export function serveControl(
  bus: Pick<Bus, 'id' | 'serve'>,
  generation: GenerationId,
  onCancel: () => void,
): Disposable {
  return bus.serve(generationControl, { generation }, ({ request: { action } }) => {
    if (action === 'cancel') onCancel()
    return { worker: bus.id }
  })
}
