import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { followHost, maintenance, missingServers } from '../state/host-state.ts'
import { modelFault, models } from '../state/models.ts'
import { useStore } from '../state/store.ts'

/** Says which parts of the host are missing, although the rest works. */
export function HostBanner(): ReactNode {
  const missing = useStore(missingServers)
  const announced = useStore(maintenance)
  const noModel = modelFault(useStore(models))
  useEffect(followHost, [])
  const faults = [
    ...(announced === undefined ? [] : [announced]),
    ...(noModel === undefined ? [] : [noModel]),
    ...(missing.length === 0 ? [] : [`Not available right now: ${missing.join(', ')}.`]),
  ]
  return (
    <div role="status" className={faults.length === 0 ? 'hidden' : 'banner warn'}>
      {faults.join(' ')}
    </div>
  )
}
