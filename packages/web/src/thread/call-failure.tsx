import type { ReactNode } from 'react'
import { Box } from '../parts/box.tsx'
import { ToolId } from '../parts/tool-id.tsx'
import { serverAddress } from '../state/route.ts'
import type { ToolItem, ToolResult } from '../state/turn.ts'
import { textOfResult } from './block-media.ts'

/** A longer reason is in the card. */
const MAX_REASON = 240

export interface CallFailureProps {
  readonly item: ToolItem
  readonly result: ToolResult
  /** Whether the reader may see the server. */
  readonly hasLinks: boolean
}

/** What failed and why, or what may have happened. */
export function CallFailure({ item, result, hasLinks }: CallFailureProps): ReactNode {
  const { server, tool } = item
  if (result.outcome !== 'error' && result.outcome !== 'unknown') return null
  const isUnknown = result.outcome === 'unknown'
  return (
    <Box tone={isUnknown ? 'unknown' : 'failed'}>
      <strong>
        <ToolId server={server} tool={tool} />
        {isUnknown ? ': outcome unknown.' : ' failed.'}
      </strong>{' '}
      {isUnknown
        ? 'Its end was not seen: it may or may not have taken effect. It was not repeated.'
        : reasonOf(result)}
      {hasLinks && server !== undefined && (
        <>
          {' '}
          <a href={serverAddress(server)}>Look at the server</a>{' '}
          <a href={serverAddress(server, tool)}>Try the tool</a>
        </>
      )}
    </Box>
  )
}

function reasonOf(result: ToolResult): string {
  const reason = result.error?.message ?? textOfResult(result)
  return reason.length > MAX_REASON ? `${reason.slice(0, MAX_REASON)}…` : reason
}
