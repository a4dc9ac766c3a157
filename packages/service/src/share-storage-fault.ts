import type { Bus } from '@mcp-host/bus'
import { storageFault } from '@mcp-host/contracts'

const EVERY_MS = 2_000

/** Tells gateways of the storage fault of this process while it lasts, until disposed. */
export function shareStorageFault(
  bus: Pick<Bus, 'emit'> & { readonly storage: Pick<Bus['storage'], 'fault'> },
): Disposable {
  let isLasting = false
  const timer = setInterval(() => {
    const fault = bus.storage.fault()
    // A process that was frozen sees a fault for a moment.
    if (fault !== undefined && isLasting) bus.emit(storageFault, {}, { fault })
    isLasting = fault !== undefined
  }, EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
