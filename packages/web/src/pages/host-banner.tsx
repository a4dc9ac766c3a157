import type { ReactNode } from 'react'
import { useEffect } from 'react'
import { followHost, missingServers } from '../state/host-state.ts'
import { modelFault, models } from '../state/models.ts'
import { useStore } from '../state/store.ts'

/** Says which parts of the host are missing, although the rest works. */
export function HostBanner(): ReactNode {
  const missing = useStore(missingServers)
  const noModel = modelFault(useStore(models))
  useEffect(followHost, [])
  const faults = [
    ...(noModel === undefined ? [] : [noModel]),
    ...(missing.length === 0 ? [] : [`Not available right now: ${missing.join(', ')}.`]),
  ]
  return (
    <div role="status" className={faults.length === 0 ? 'hidden' : 'banner warn'}>
      {faults.join(' ')}
    </div>
  )
}
