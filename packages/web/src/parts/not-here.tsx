import type { ReactNode } from 'react'
import { HostError } from '@mcp-host/client'
import { Box } from './box.tsx'

/** Whether the host lacks what a page shows, by the answer to its first read. */
export function isNotHere(fault: Error | undefined): boolean {
  return fault instanceof HostError && fault.code === 'not-found'
}

export interface NotHereProps {
  /** What the host lacks, as a sentence. */
  readonly title: string
  /** The setting that adds it. */
  readonly children: ReactNode
}

/** Says in place of a page that the host lacks what the page shows, and how to add it. Nothing has failed. */
export function NotHere({ title, children }: NotHereProps): ReactNode {
  return (
    <Box tone="plain">
      <strong>{title}</strong> {children}
    </Box>
  )
}
