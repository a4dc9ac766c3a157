import type { ReactNode } from 'react'
import { HostError } from '@mcp-host/client'
import { Box } from './box.tsx'

export interface FaultProps {
  /** In words, or as it was thrown; `undefined`: nothing is wrong. */
  readonly fault: Error | string | undefined
}

/** What did not work, in words. */
export function Fault({ fault }: FaultProps): ReactNode {
  if (fault === undefined) return null
  return (
    <Box tone="failed" role="alert">
      {typeof fault === 'string' ? fault : textOf(fault)}
    </Box>
  )
}

function textOf(fault: Error): string {
  const status = fault instanceof HostError ? fault.status : undefined
  if (status === 401) return 'You are logged out. Log in again, and repeat it.'
  if (status === 403) return `You may not do this: ${fault.message}.`
  return fault.message
}
