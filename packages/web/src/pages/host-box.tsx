import type { ReactNode } from 'react'
import { Fragment } from 'react'
import { Box } from '../parts/box.tsx'
import { maintenance, servers } from '../state/host-state.ts'
import { modelFault } from '../state/model-fault.ts'
import { models } from '../state/models.ts'
import { serverAddress } from '../state/route.ts'
import { isBroken, missingWords } from '../state/server-state.ts'
import { useStore } from '../state/store.ts'

/** Says which parts of the host are missing, although the rest works. `isEmpty`: nothing was said in the chat yet. */
export function HostBox({ isEmpty }: { readonly isEmpty: boolean }): ReactNode {
  const announced = useStore(maintenance)
  const known = useStore(models)
  const missing = (useStore(servers) ?? []).filter(isBroken)
  const words = missingWords(missing)
  const noModel = modelFault(known)
  const isDemo = known?.default?.provider === 'demo'
  return (
    <div role="status" className="boxes">
      {announced !== undefined && <Box tone="plain">{announced}</Box>}
      {noModel !== undefined && <Box tone="plain">{noModel}</Box>}
      {missing.length > 0 && (
        <Box tone="plain">
          {words.before}:{' '}
          {missing.map(({ server }, index) => (
            <Fragment key={server}>
              {index > 0 && ', '}
              <a href={serverAddress(server)}>{server}</a>
            </Fragment>
          ))}
          . {words.after}
        </Box>
      )}
      {isDemo && isEmpty && (
        <Box tone="waits">
          <strong>Use a real model.</strong> Set a key of a provider, as GEMINI_API_KEY, and start
          the host again.
        </Box>
      )}
    </div>
  )
}
