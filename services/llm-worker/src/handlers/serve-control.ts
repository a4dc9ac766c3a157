import type { Bus } from '@mcp-host/bus'
import type { GenerationId } from '@mcp-host/contracts'
import { generationControl } from '@mcp-host/contracts'

/** Answers for a generation until disposed: no answer means that it is over. */
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
