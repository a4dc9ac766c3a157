import type { FileFault } from '@mcp-host/client'
import type { ReactNode } from 'react'
import { admin } from '../state/admin.ts'
import { useLoaded } from '../state/use-loaded.ts'
import { usePoll } from '../state/use-poll.ts'

const LOOK_MS = 4_000

const read = (): Promise<FileFault[]> => admin.fileFaults()

export interface FileFaultsProps {
  /** The settings that name the files. */
  readonly settings: readonly string[]
}

/** Notices of changed files of settings that cannot be used, for admins. */
export function FileFaults({ settings }: FileFaultsProps): ReactNode {
  const { value: files = [], reload } = useLoaded(read)
  usePoll(reload, LOOK_MS)
  return files
    .filter(({ setting }) => settings.includes(setting))
    .map(({ fault }) => (
      <p key={fault} role="alert" className="banner bad">
        {fault}
      </p>
    ))
}
