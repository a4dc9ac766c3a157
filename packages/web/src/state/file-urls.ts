import { createContext } from 'react'
import { host } from './host.ts'

/** The address of a file of a session by its key. A shared session has other addresses. */
export const FileUrls = createContext((session: string, key: string): string =>
  host.fileUrl(session, key),
)
